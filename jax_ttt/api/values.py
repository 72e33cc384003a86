"""An agent's action values for a board, and the move that it plays."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import pgx
from jaxtyping import Array, Float

from jax_ttt.api import html
from jax_ttt.api.agent import check_agent
from jax_ttt.api.game import Board, states_of
from jax_ttt.config.catalogue import GAMES
from jax_ttt.config.errors import GameError, MoveError
from jax_ttt.games import one_game
from jax_ttt.pictures import boards
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.players import agents, network, session
from jax_ttt.text import text_board


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Values(Mapping[int, float]):
    """The value of each legal move to the player to move: -1 loss, 1 win.

    It is a mapping from moves, in ascending order, to values. A notebook shows them on
    the board, next to the exact ones if the game is enumerable.

    Attributes:
        env_id: The game.
        learned: The agent's values by legal move.
        exact: The values under best play by legal move; None if not enumerable.
        states: The PGX states, `(1, ...)` each: before the first and after each move.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> values = jax_ttt.q_values(agent, [4, 0])
        >>> sorted(values)
        [1, 2, 3, 5, 6, 7, 8]
        >>> max(values, key=values.get) == jax_ttt.best_move(agent, [4, 0])
        True
        >>> values.exact[8]
        0.0
    """

    env_id: str
    learned: dict[int, float]
    exact: dict[int, float] | None
    states: tuple[pgx.State, ...] = dataclasses.field(repr=False)

    def __getitem__(self, move: int) -> float:
        return self.learned[move]

    def __iter__(self) -> Iterator[int]:
        return iter(self.learned)

    def __len__(self) -> int:
        return len(self.learned)

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the values on the free cells of the board.

        Raises:
            GameError: moves are no cells in this game.
        """
        cells = self._cells()
        if cells is None:
            raise GameError(f"{self.env_id}: values are drawn where moves are cells")
        worth = {"learned": self.learned, "exact": self.exact}
        shown = {name: _on(cells, v) for name, v in worth.items() if v is not None}
        seat = one_game.seat_to_move(self.states[0], self.states[-1])
        return boards.on_board(
            cells, shown, boards.mover_text(self.env_id, seat), theme
        )

    def _cells(self) -> np.ndarray | None:
        """Return the board's cells as letters; None where moves are no cells."""
        game = GAMES[self.env_id]
        if game.moves_on != "cells" or not game.stones:
            return None
        seat = one_game.seat_to_move(self.states[0], self.states[-1])
        obs = np.asarray(self.states[-1].observation[0])
        return text_board.grid(obs, seat, text_board.letters_of(self.env_id))

    def __repr__(self) -> str:
        pairs = (f"{move}: {round(v, 3) + 0.0:+.3f}" for move, v in self.items())
        return f"{{{', '.join(pairs)}}}"

    def _repr_html_(self) -> str:
        described = html.preformatted(repr(self))
        if self._cells() is None:
            return described
        return html.with_picture(described, self.picture)


def _on(cells: np.ndarray, worth: dict[int, float]) -> np.ndarray:
    """Return values as an array of all cells, NaN for cells without a value."""
    every = np.full(cells.size, np.nan)
    for move, value in worth.items():
        if move < cells.size:  # in some games, the last action is to pass
            every[move] = value
    return every


def q_values(agent: agents.Agent, board: Board) -> Values:
    """Return an agent's action values for a board.

    Args:
        agent: An agent of `train` or `load`.
        board: A `Game`, or the moves made from the start, for instance `[4, 0]`.

    Returns:
        A mapping from each legal move to its value, from -1 to 1, to the player to
        move; see `Values`.

    Raises:
        Refused: `agent` is not an agent, a move is illegal, or the game is over.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> values = jax_ttt.q_values(agent, [4, 1])
        >>> values[0] > values[7]
        True
    """
    check_agent("q_values", agent)
    env_id = agent.config.env_id
    states, found = _valued(agent, board)
    legal = one_game.legal_moves(states[-1])
    exact = session.minimax_values(env_id, states[-1])
    return Values(
        env_id,
        {move: float(found[0, move]) for move in legal},
        None if exact is None else {move: float(exact[move]) for move in legal},
        states,
    )


def best_move(agent: agents.Agent, board: Board) -> int:
    """Return the move that an agent plays on a board: that with the highest value.

    If several moves have it, it is the one with the lowest index on the canonical
    board, so that symmetric boards get symmetric moves.

    Args:
        agent: An agent of `train` or `load`.
        board: A `Game`, or the moves made from the start, for instance `[4, 0]`.

    Raises:
        Refused: `agent` is not an agent, a move is illegal, or the game is over.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.best_move(agent, [0, 3, 1, 4])
        2
    """
    check_agent("best_move", agent)
    states, values = _valued(agent, board)
    return int(network.greedy_actions(agent.network.env_id, states[-1], values)[0])


def _valued(
    agent: agents.Agent, board: Board
) -> tuple[tuple[pgx.State, ...], Float[Array, "1 A"]]:
    """Return the states of a game that goes on, and the values in the last one."""
    states = states_of(board, agent.config.env_id)
    if not one_game.legal_moves(states[-1]):
        raise MoveError("the game is over, so no move has a value")
    obs = states[-1].observation
    return states, network.board_values(agent.network, agent.params, obs)
