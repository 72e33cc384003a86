"""An agent's action values for a board, and the move that it plays."""

import dataclasses
from collections.abc import Iterator, Mapping

import jax
import numpy as np
import pgx

from jax_ttt.api.agent import check_agent
from jax_ttt.api.new_game import Board, game_of_board
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games.played_game import Game
from jax_ttt.grading import move_values
from jax_ttt.pictures.board_svg import mover_text, values_board
from jax_ttt.players import saved_agents
from jax_ttt.runtime import compiling
from jax_ttt.text import html
from jax_ttt.text.board_text import board_cells


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Values(Mapping[int, float]):
    """The value of each legal move to the player to move: -1 loss, 1 win.

    It is a mapping from moves, in ascending order, to values. A notebook shows them on
    the board, next to the exact ones if the game is enumerable.

    Attributes:
        game: The moves so far, with the PGX states.
        learned: The agent's values by legal move.
        exact: The values under best play by legal move; None if not enumerable.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> values = jax_ttt.q_values(agent, [4, 0])
        >>> sorted(values)
        [1, 2, 3, 5, 6, 7, 8]
        >>> max(values, key=values.get) == jax_ttt.best_move(agent, [4, 0])
        True
        >>> values.exact[8]
        0.0
    """

    game: Game
    learned: dict[int, float]
    exact: dict[int, float] | None

    @property
    def env_id(self) -> EnvId:
        """The name of the game."""
        return self.game.env_id

    @property
    def states(self) -> tuple[pgx.State, ...]:
        """The PGX states, `(1, ...)` each: before the first and after each move."""
        return self.game.states

    def __getitem__(self, move: int) -> float:
        return self.learned[move]

    def __iter__(self) -> Iterator[int]:
        return iter(self.learned)

    def __len__(self) -> int:
        return len(self.learned)

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the values on the free cells of the board.

        Raises:
            Refused: a move is not a cell in this game.
        """
        cells = self._cells()
        if cells is None:
            raise Refused(f"{self.env_id}: values are drawn where moves are cells")
        boards = {"learned": self.learned}
        if self.exact is not None:
            boards["exact"] = self.exact
        title = mover_text(self.game.to_move)
        return values_board(cells, boards, title, theme)

    def _cells(self) -> np.ndarray | None:
        """Return the board's cells as letters; None where a move is not a cell."""
        game = GAMES[self.env_id]
        if game.moves_on != "cells" or not game.stones:
            return None
        obs = np.asarray(self.game.state.observation)[0]
        return board_cells(obs, self.game.to_move)

    def __repr__(self) -> str:
        pairs = (f"{move}: {round(v, 3) + 0.0:+.3f}" for move, v in self.items())
        return f"{{{', '.join(pairs)}}}"

    def _repr_html_(self) -> str:
        text = html.preformatted(repr(self))
        if self._cells() is None:
            return text
        return html.with_picture(text, self.picture)


def q_values(agent: saved_agents.Agent, board: Board) -> Values:
    """Return an agent's action values for a board.

    Args:
        agent: An agent of `train` or `load`.
        board: A game of `new_game`; the moves from the start, for instance `[4, 0]`; or
            in an enumerable game of stones the cells, for instance `"X...O...."`.

    Returns:
        A mapping from each legal move to its value, from -1 to 1, to the player to
        move; see `Values`.

    Raises:
        Refused: `agent` is not an agent, a move is illegal, or the game is over.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> values = jax_ttt.q_values(agent, [4, 1])
        >>> values[0] > values[7]
        True
    """
    check_agent("q_values", agent)
    game = _unfinished_game(agent, board)
    return Values(
        game=game,
        learned=move_values.agent_values(game, agent),
        exact=move_values.best_play_values(game),
    )


def best_move(agent: saved_agents.Agent, board: Board) -> int:
    """Return the move that an agent plays on a board: that with the highest value.

    Of several such moves, it is the lowest in an enumerable game. In the other games it
    is the lowest on the canonical board, so that mirror images get mirrored moves.

    Args:
        agent: An agent of `train` or `load`.
        board: A game of `new_game`; the moves from the start, for instance `[4, 0]`; or
            in an enumerable game of stones the cells, for instance `"X...O...."`.

    Raises:
        Refused: `agent` is not an agent, a move is illegal, or the game is over.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.best_move(agent, [0, 3, 1, 4])
        2
    """
    check_agent("best_move", agent)
    game = _unfinished_game(agent, board)
    return game.move_of(agent.player, jax.random.key(0))


def _unfinished_game(agent: saved_agents.Agent, board: Board) -> Game:
    """Return the game that led to a board; raise `Refused` if it is over."""
    compiling.use_user_cache()
    game = game_of_board(board, agent.config.env_id)
    if game.is_over:
        raise Refused("the game is over, so no move has a value")
    return game
