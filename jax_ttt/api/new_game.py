"""A game against a player, move by move."""

import dataclasses
import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import SupportsIndex, TypeAlias

import jax
from jaxtyping import Array, Key

from jax_ttt.api.player import Player, PlayerLike, opponent_in_a_game
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import EnvId, Seat, games_with_all_boards, letters_from
from jax_ttt.config.ranges import check_value
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games.played_game import Game, Result
from jax_ttt.pictures.board_svg import animation, position_picture
from jax_ttt.runtime.words import argument_phrase
from jax_ttt.text import html
from jax_ttt.text.board_text import board_text, moves_to_board

_STATUS = {
    None: "your move",
    "won": "you win",
    "drawn": "a draw",
    "lost": "you lose",
}


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class GameAgainst:
    """A game against a player; each move returns a new one.

    A notebook shows the board. Moves are PGX's actions, which count from 0; a printed
    board numbers columns from 1, as players of Connect Four do.

    Attributes:
        game: The moves of both players, with the PGX states.
        opponent: The player that you play against.
        seat: Your seat, `"first"` or `"second"`.
        key: The key of the opponent's next moves.

    Examples:
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

    game: Game
    opponent: Player
    seat: Seat
    key: Key[Array, ""]

    @property
    def env_id(self) -> str:
        """The name of the game."""
        return self.game.env_id

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves of both players, the oldest first."""
        return self.game.moves

    @property
    def legal_moves(self) -> tuple[int, ...]:
        """The legal moves in ascending order; empty when the game is over."""
        return self.game.legal_moves

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.game.is_over

    @property
    def result(self) -> Result | None:
        """Your result: `"won"`, `"drawn"` or `"lost"`; None before the end."""
        return self.game.result(self.seat)

    def play(self, move: SupportsIndex) -> "GameAgainst":
        """Return the game after your move and the opponent's reply.

        Raises:
            Refused: the move is illegal, or the game is over.
        """
        moves = read_moves([move])
        if moves is None:
            raise Refused(f"a move is a whole number, not {argument_phrase(move)}")
        return _after_replies(replace(self, game=self.game.play(moves[0])))

    def undo(self) -> "GameAgainst":
        """Return the game before your latest move; the same game if there is none.

        If you then play the same move again, a random player may reply differently.
        """
        return replace(self, game=self.game.before_move_of(self.seat))

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the game from its first board to the latest, one after another."""
        if not self.moves:
            return self._board(theme)
        return animation(self.game.states, theme)

    def _board(self, theme: Theme = "light") -> Picture:
        return position_picture(self.game.state, theme)

    def _headline(self) -> str:
        you, other = letters_from(self.seat)
        players = f"you are {you}, {self.opponent.name} is {other}"
        return f"{players}: {_STATUS[self.result]}"

    def __repr__(self) -> str:
        return f"{self._headline()}\n{board_text(self.game)}"

    def _repr_html_(self) -> str:
        headline, text = map(html.preformatted, (self._headline(), repr(self)))
        return html.with_picture(headline, self._board, alone=text)


Board: TypeAlias = GameAgainst | Sequence[int] | str
"""A game, the moves made from its start, or the cells of a board as text."""


def new_game(
    opponent: PlayerLike,
    seat: Seat = "first",
    *,
    env_id: str | None = None,
    seed: int = 0,
) -> GameAgainst:
    """Return a new game against a player, which moves first if you are second.

    Args:
        opponent: An agent, a built-in player's name or a function; see `player`.
        seat: Your seat, `"first"` or `"second"`.
        env_id: The game; by default the opponent's, else tic-tac-toe.
        seed: The seed of the opponent's random numbers.

    Raises:
        Refused: the player, seat or game is unknown.

    Examples:
        >>> game = jax_ttt.new_game("random", seat="second", seed=3)
        >>> while not game.is_over:
        ...     game = game.play(game.legal_moves[0])
        >>> game.result in ("won", "drawn", "lost")
        True
    """
    check_value("seat", Seat, seat)
    opponent_player = opponent_in_a_game(opponent, env_id, seed)
    game_key, _ = jax.random.split(jax.random.key(seed))  # the other: the opponent's
    return start_game(opponent_player, seat, game_key)


def start_game(opponent: Player, seat: Seat, key: Key[Array, ""]) -> GameAgainst:
    """Return a new game against a player, after its moves if you are second.

    `key` is consumed.
    """
    game = Game.start(opponent.env_id)
    return _after_replies(GameAgainst(game=game, opponent=opponent, seat=seat, key=key))


def _after_replies(against: GameAgainst) -> GameAgainst:
    """Return the game after the opponent's replies: your turn, or the end."""
    game, key = against.game, against.key
    while not game.is_over and game.to_move != against.seat:
        key, move_key = jax.random.split(key)
        game = game.play(against.opponent.move_in(game, move_key))
    if game.is_over:
        against.opponent.close()
    return replace(against, game=game, key=key)


def game_of_board(board: Board, env_id: EnvId) -> Game:
    """Return the game that led to a board.

    Raises:
        Refused: a move is illegal, or `board` is not a board of `env_id`.
    """
    if isinstance(board, str):
        if env_id not in (games := games_with_all_boards()):
            raise Refused(f"a text is a board in {', '.join(games)}, not in {env_id}")
        try:
            return Game.start(env_id, moves_to_board(env_id, board))
        except ValueError as error:
            raise Refused(f"{board}: {error}") from None
    if not isinstance(board, GameAgainst):
        moves = read_moves(board)
        if moves is None:
            rule = "a board is a game or the moves from its start, e.g. [4, 0]"
            raise Refused(f"{rule}; got {argument_phrase(board)}")
        return Game.start(env_id, moves)
    if board.env_id != env_id:
        raise Refused(f"a board of {board.env_id}, but the agent plays {env_id}")
    return board.game


def read_moves(thing: object) -> tuple[int, ...] | None:
    """Return moves of any integer type as ints; None if `thing` is not moves."""
    if isinstance(thing, str | Mapping | Set) or not isinstance(thing, Iterable):
        return None
    try:
        return tuple(operator.index(move) for move in thing)
    except TypeError:
        return None
