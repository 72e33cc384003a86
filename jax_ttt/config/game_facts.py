"""The facts about each game that PGX's rules do not give: one record per game.

No other module compares `env_id` with a string, so that a new game needs only a record
here. `jax_ttt.register_game` adds the records of users' games.
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, get_args

from jax_ttt.config.errors import Refused

if TYPE_CHECKING:
    import pgx

Seat = Literal["first", "second"]
SeatSetting = Literal["both", "first", "second"]
SEATS: tuple[Seat, ...] = get_args(Seat)
"""Both seats: the player who makes a game's first move, and the other one."""

Side = Literal["x", "o"]
SIDES: dict[Seat, Side] = {"first": "x", "second": "o"}
"""The short names of the seats, which people type and the web page uses."""
SEAT_OF_SIDE: dict[Side, Seat] = {side: seat for seat, side in SIDES.items()}
"""The seats, by their short names."""

LETTERS: tuple[str, str] = ("X", "O")
"""The letters of the first player's stones and of the second player's: the names of
the seats wherever a person reads them, in every game."""

Goal = Literal["not-lose", "win"]
"""What a player must do in every game: not lose it (it is unbeatable), or win it."""

MAX_TREE_POSITIONS = 100_000
"""Maximum number of positions of an enumerable game."""
KEY_WORD = 32
"""Bits of each of the two words of a position's key."""
MAX_DIGIT = 9
"""Bits of the longest digit of a key: a column of eight cells."""
MovesOn = Literal["cells", "columns"]
Packing = Literal["cells", "columns"]
Grid = list[tuple[int, ...]]


class Symmetry(NamedTuple):
    """A symmetric view of the board, a rotation or reflection.

    Cell `i` of the view is cell `cells[i]` of the board, row by row, and action `a` in
    the view is action `actions[a]` on the board.
    """

    cells: tuple[int, ...]
    actions: tuple[int, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GameFacts:
    """The facts about a game.

    Raises:
        ValueError: a fact needs another one that is missing.
    """

    shape: tuple[int, int] = (0, 0)
    """Rows and columns of the board; only a user's game may be without one."""
    pgx_id: str | None = None
    """PGX's name of the game; None for stones in a row, and for a user's game."""
    in_a_row: int | None = None
    """Number of stones in a row that wins in `line_games`; None for other games.
    Stones fall if moves are on columns."""
    user_env: "pgx.Env | None" = None
    """The rules of a user's game, see `jax_ttt.register_game`; None for other games."""
    rules_file: str = ""
    """The file of the flag `--rules` that registers the game; empty without it."""
    stones: bool = False
    """Whether PGX shows the board as two planes: the mover's stones, the opponent's."""
    moves_on: MovesOn | None = None
    """Meaning of an action, needed to draw boards in text: a cell, row by row (a last
    action may be to pass), or a column. None: boards are not drawn in text."""
    symmetries: tuple[Symmetry, ...] = ()
    """The symmetric views, the identity first; empty if they are not listed here."""
    max_moves: int | None = None
    """The maximum number of moves in a game; None if it is not known.
    `--backward` needs it, since an update then plays whole games."""
    enumerable: bool = False
    """Whether the game has at most `MAX_TREE_POSITIONS`, so that results over its tree
    are exact."""
    packing: Packing | None = None
    """How a position becomes a key of at most 64 bits: two bits for each cell, or the
    stones and the height of each column. None: a position is all bytes of its state."""
    too_large: bool = False
    """Whether a player reaches more positions than any memory holds, so that they are
    followed only up to a limit that is asked for."""
    certified: bool = False
    """Whether `docs/check_certificate.py` has the rules and can check certificates."""
    preset: Literal["default", "plain"] = "plain"
    """The default preset of the game."""
    best_result: Literal["first", "draw", "second"] | None = None
    """Who wins with best play of both, or a draw; None if it is not listed here.
    Corrections need it."""
    move_names: tuple[str, ...] = ()
    """The name of each action, for people; by default its number."""
    board_text: "Callable[[pgx.State], str] | None" = None
    """A user's function from a state to its board as text, in place of any other."""

    def __post_init__(self) -> None:
        sources = (self.pgx_id, self.in_a_row, self.user_env)
        if sum(source is not None for source in sources) != 1:
            raise ValueError("a game needs one of pgx_id, in_a_row and user_env")
        if self.user_env is None and self.shape == (0, 0):
            raise ValueError("pgx_id and in_a_row need shape")
        # Stones decide which view of a board is the canonical one.
        if self.symmetries and not self.stones:
            raise ValueError("symmetries need stones")
        if self.packing is not None:
            num_digits, bits = self.key_digits
            fits = bits <= MAX_DIGIT and num_digits <= 2 * (KEY_WORD // bits)
            if not (fits and self.symmetries):
                rule = "symmetries, and a board that fits into two words"
                raise ValueError(f"packing needs {rule} of {KEY_WORD} bits")

    @property
    def key_digits(self) -> tuple[int, int]:
        """The number of digits of a position's key, and the bits of each.

        They are its cells or its columns, by `packing`; no digit has bits in two words.
        """
        rows, columns = self.shape
        return (rows * columns, 2) if self.packing == "cells" else (columns, rows + 1)


def square_views(size: int) -> tuple[Symmetry, ...]:
    """Return the eight views of a square board whose actions are its cells."""
    board: Grid = [tuple(range(row * size, (row + 1) * size)) for row in range(size)]
    views = []
    for _ in range(4):
        mirrored = list(zip(*board, strict=True))
        for view in (board, mirrored):
            cells = tuple(cell for row in view for cell in row)
            views.append(Symmetry(cells=cells, actions=cells))
        board = mirrored[::-1]  # a quarter turn
    return tuple(views)


def column_views(rows: int, columns: int) -> tuple[Symmetry, ...]:
    """Return the identity and the mirror image of a board played by columns."""
    order = tuple(range(columns))
    views = []
    for actions in (order, order[::-1]):
        cells = [row * columns + column for row in range(rows) for column in actions]
        views.append(Symmetry(cells=tuple(cells), actions=actions))
    return tuple(views)


def connect_game(columns: int, rows: int) -> GameFacts:
    """Return the facts about four in a row on a board of this size.

    Stones fall, as in Connect Four. Source of the results with best play: J. Tromp,
    "John's Connect Four Playground".
    """
    winners: dict[tuple[int, int], Seat] = {(7, 6): "first", (6, 6): "second"}
    return GameFacts(
        in_a_row=4,
        shape=(rows, columns),
        stones=True,
        moves_on="columns",
        symmetries=column_views(rows, columns),
        max_moves=rows * columns,
        packing="columns",
        certified=columns <= 5 and rows <= 5,
        best_result=winners.get((columns, rows), "draw"),
    )


_BOARD_SIZES = ((4, 4), (5, 4), (4, 5), (5, 5), (6, 5), (6, 6), (7, 6))

GAMES: dict[str, GameFacts] = {
    "tic_tac_toe": GameFacts(
        pgx_id="tic_tac_toe",
        shape=(3, 3),
        stones=True,
        moves_on="cells",
        symmetries=square_views(3),
        max_moves=9,
        enumerable=True,
        packing="cells",
        certified=True,
        preset="default",
        best_result="draw",
    ),
    "connect_four": GameFacts(
        pgx_id="connect_four",
        shape=(6, 7),
        stones=True,
        moves_on="columns",
        symmetries=column_views(6, 7),
        packing="columns",
        best_result="first",
    ),
    "othello": GameFacts(
        pgx_id="othello",
        shape=(8, 8),
        stones=True,
        moves_on="cells",
        too_large=True,
    ),
    "hex": GameFacts(pgx_id="hex", shape=(11, 11), moves_on="cells", too_large=True),
    "animal_shogi": GameFacts(pgx_id="animal_shogi", shape=(4, 3), too_large=True),
    "gardner_chess": GameFacts(pgx_id="gardner_chess", shape=(5, 5), too_large=True),
    "go_9x9": GameFacts(
        pgx_id="go_9x9", shape=(9, 9), moves_on="cells", too_large=True
    ),
    **{
        f"connect_{columns}x{rows}": connect_game(columns=columns, rows=rows)
        for columns, rows in _BOARD_SIZES
    },
    "mnk_4x4_4": GameFacts(
        in_a_row=4,
        shape=(4, 4),
        stones=True,
        moves_on="cells",
        symmetries=square_views(4),
        max_moves=16,
        packing="cells",
    ),
}
"""The games, by their names in `--env-id`."""

DEFAULT_GAME = "tic_tac_toe"
"""The default game."""


class GameName:
    """Marks a text that must be the name of a game, one in `GAMES`."""


if TYPE_CHECKING:
    EnvId = str
else:  # the command line and the checks of settings look for the mark
    EnvId = Annotated[str, GameName()]

CERTIFIED = tuple(name for name, game in GAMES.items() if game.certified)
"""The games in which a player can get a certificate."""


def default_game() -> EnvId:
    """Return the only game of the file of `--rules`; tic-tac-toe without one.

    Raises:
        Refused: the file registers several games.
    """
    of_file = [name for name, game in GAMES.items() if game.rules_file]
    if len(of_file) > 1:
        raise Refused(f"--env-id must be one of {', '.join(of_file)}")
    return of_file[0] if of_file else DEFAULT_GAME


def enumerable_games() -> tuple[str, ...]:
    """Return the games whose tree is enumerated, so that results over it are exact."""
    return tuple(name for name, game in GAMES.items() if game.enumerable)


def games_with_all_boards() -> tuple[str, ...]:
    """Return the enumerable games of stones: all their boards can be drawn."""
    return tuple(name for name in enumerable_games() if GAMES[name].stones)


def reason_game_is_not_searched(env_id: EnvId) -> str:
    """Return why the positions that a player reaches are not searched; or empty."""
    if GAMES[env_id].enumerable:
        return f"the whole tree of {env_id} is enumerated"
    return ""


def reason_goal_is_out_of_reach(env_id: EnvId, seat: Seat, goal: Goal) -> str:
    """Return why no player in this seat can reach a goal against best play.

    Empty if one can.
    """
    best_result = GAMES[env_id].best_result
    if best_result is None:
        return f"the result of {env_id} with best play is not known here"
    if best_result == seat or (best_result == "draw" and goal == "not-lose"):
        return ""
    with_best_play = "it is a draw"
    if best_result != "draw":
        with_best_play = f"{seat_name(best_result)} wins"
    aim = "win every game" if goal == "win" else "avoid every loss"
    name = seat_name(seat)
    return f"{name} can't {aim} in {env_id}: with best play, {with_best_play}"


def seat_name(seat: Seat) -> str:
    """Return the name of a seat for people: the letter of its stones."""
    return LETTERS[SEATS.index(seat)]


def letters_from(seat: Seat) -> tuple[str, str]:
    """Return the letters of a seat's own stones and of the opponent's."""
    first, second = LETTERS
    return (first, second) if seat == "first" else (second, first)


def move_name(env_id: EnvId, move: int) -> str:
    """Return the name by which people read and type a move.

    Squares count from 0, row by row, and columns from 1, as players of Connect Four
    count them; a user's game may have words. Python, files and programs use PGX's
    action instead, which counts from 0 in all games.
    """
    game = GAMES[env_id]
    if game.move_names:
        return game.move_names[move]
    return str(move + (game.moves_on == "columns"))


def move_with_letter(env_id: EnvId, seat: Seat, move: int) -> str:
    """Return a move with its player's letter: `X4`; `X a2` where moves have words."""
    space = " " if GAMES[env_id].move_names else ""
    return f"{seat_name(seat)}{space}{move_name(env_id, move)}"


def line_text(env_id: EnvId, line: Iterable[int]) -> str:
    """Return the moves of a line with their players' letters, such as `X4 O0`."""
    return " ".join(
        move_with_letter(env_id, SEATS[place % 2], move)
        for place, move in enumerate(line)
    )


def move_noun(env_id: EnvId) -> Literal["square", "column", "move"]:
    """Return what the name of a move stands for: a word is just a move."""
    game = GAMES[env_id]
    if game.moves_on is None or game.move_names:
        return "move"
    return "column" if game.moves_on == "columns" else "square"


def move_names_phrase(env_id: EnvId) -> str:
    """Return which moves the numbers name, for instance `columns 1 to 7`.

    Empty where they name neither squares nor columns.
    """
    rows, columns = GAMES[env_id].shape
    return {
        "square": f"squares 0 to {rows * columns - 1}, row by row",
        "column": f"columns 1 to {columns}",
        "move": "",
    }[move_noun(env_id)]
