"""A game against a player, move by move."""

import dataclasses
import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import SupportsIndex, TypeAlias

import jax
import pgx

from jax_ttt.api import html
from jax_ttt.api.agent import in_words
from jax_ttt.api.entrant import PlayerLike, player
from jax_ttt.config.catalogue import SEATS, Seat, seat_name
from jax_ttt.config.errors import MoveError, SettingError
from jax_ttt.games import one_game
from jax_ttt.games.one_game import Result
from jax_ttt.pictures.board import animation, position_picture
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.players import session
from jax_ttt.players.session import Session
from jax_ttt.text.board import board_text

_STATUS = {
    None: "your move",
    "won": "you win",
    "drawn": "a draw",
    "lost": "you lose",
}


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Game:
    """A game against a player; each move returns a new `Game`.

    A notebook shows the board.

    Attributes:
        session: The states and moves so far, and the opponent.

    Example:
        >>> game = jax_ttt.new_game("minimax-first")
        >>> game = game.play(4)
        >>> game.moves
        (4, 0)
        >>> print(game)
        you are X, minimax-first is O: your move
          O 1 2
          3 X 5
          6 7 8
    """

    session: Session

    @property
    def env_id(self) -> str:
        """The name of the game."""
        return self.session.env_id

    @property
    def seat(self) -> Seat:
        """Your seat, `"first"` or `"second"`."""
        return self.session.seat

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves of both players, the oldest first."""
        return self.session.moves

    @property
    def legal_moves(self) -> tuple[int, ...]:
        """The legal moves in ascending order; empty when the game is over."""
        return session.legal_moves(self.session)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return session.is_over(self.session)

    @property
    def result(self) -> Result | None:
        """Your result: `"won"`, `"drawn"` or `"lost"`; None before the end."""
        return session.result(self.session)

    def play(self, move: SupportsIndex) -> "Game":
        """Return the game after your move and the opponent's reply.

        Raises:
            Refused: the move is illegal, or the game is over.
        """
        moves = as_moves([move])
        if moves is None:
            raise MoveError(f"a move is a whole number, not {in_words(move)}")
        return _after_replies(session.play_move(self.session, *moves))

    def undo(self) -> "Game":
        """Return the game before your latest move; the same game if there is none."""
        return Game(session.undo(self.session))

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the game from its first board to the latest, one after another."""
        if not self.moves:
            return self._board(theme)
        return animation(self.session.states, theme)

    def _board(self, theme: Theme = "light") -> Picture:
        return position_picture(self.session.state, theme)

    def _headline(self) -> str:
        names = [seat_name(self.env_id, seat) for seat in SEATS]
        you, other = names if self.seat == SEATS[0] else names[::-1]
        players = f"you are {you}, {self.session.opponent.name} is {other}"
        return f"{players}: {_STATUS[self.result]}"

    def __repr__(self) -> str:
        return f"{self._headline()}\n{board_text(self.session)}"

    def _repr_html_(self) -> str:
        return html.with_picture(html.preformatted(self._headline()), self._board)


Board: TypeAlias = Game | Sequence[int]
"""A game, or the moves made from its start."""


def new_game(
    opponent: PlayerLike,
    seat: Seat = "first",
    *,
    env_id: str | None = None,
    seed: int = 0,
) -> Game:
    """Return a new game against a player, which moves first if you are second.

    Args:
        opponent: An agent, a built-in player's name or a function; see `player`.
        seat: Your seat, `"first"` or `"second"`.
        env_id: The game; by default the opponent's, else tic-tac-toe.
        seed: The seed of the opponent's random numbers.

    Raises:
        Refused: the player, seat or game is unknown.

    Example:
        >>> game = jax_ttt.new_game("random", seat="second", seed=3)
        >>> while not game.is_over:
        ...     game = game.play(game.legal_moves[0])
        >>> game.result in ("won", "drawn", "lost")
        True
    """
    if seat not in SEATS:
        raise SettingError("seat", f"one of {', '.join(SEATS)}", seat)
    entered = player(opponent, env_id=env_id, seed=seed)
    key = jax.random.key(seed)
    started = session.start_session(entered.env_id, entered.entrant, seat, key)
    return _after_replies(started)


def _after_replies(current: Session) -> Game:
    """Return the game after the opponent's replies: your turn, or the end."""
    while not session.is_over(current) and not session.is_persons_turn(current):
        current = session.play_reply(current)
    return Game(current)


def states_of(board: Board, env_id: str) -> tuple[pgx.State, ...]:
    """Return the states of one game, from before its first move to the board.

    Raises:
        Refused: a move is illegal, or `board` is not a board of `env_id`.
    """
    if not isinstance(board, Game):
        moves = as_moves(board)
        if moves is None:
            rule = "a board is a Game or the moves from its start, e.g. [4, 0]"
            raise MoveError(f"{rule}; got {in_words(board)}")
        return one_game.states(env_id, moves)
    if board.env_id != env_id:
        raise MoveError(f"a board of {board.env_id}, but the agent plays {env_id}")
    return board.session.states


def as_moves(thing: object) -> tuple[int, ...] | None:
    """Return moves of any integer type as ints; None if `thing` is not moves."""
    if isinstance(thing, str | Mapping | Set) or not isinstance(thing, Iterable):
        return None
    try:
        return tuple(operator.index(move) for move in thing)
    except TypeError:
        return None
