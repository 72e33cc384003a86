"""Boards as text, from the two planes of stones of an observation.

All other functions draw cells, which `grid` returns. Axes: `H` rows, `W` columns.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Shaped

from jax_ttt.config.catalogue import GAMES, SEATS, EnvId, MovesOn, Seat
from jax_ttt.games import one_game
from jax_ttt.games.tree import Tree

LETTERS = ("X", "O")
"""The stones of the first player and of the second."""
FREE = "-"
"""A free cell in a position's string."""


def letters_of(env_id: EnvId) -> tuple[str, str]:
    """Return the letters of the first and the second player's stones."""
    return GAMES[env_id].letters


def grid(
    obs: Shaped[np.ndarray, "H W planes"],
    to_move: Seat,
    letters: tuple[str, str] = LETTERS,
    free: str = FREE,
) -> Shaped[np.ndarray, "H W"]:
    """Return a board's cells as an array of strings, `(H, W)`.

    The first two planes of `obs`, `(H, W, planes)`, are the stones of the player to
    move and of the opponent.
    """
    cells = np.full(obs.shape[:2], free, object)
    for plane, stone in enumerate(letters if to_move == "first" else letters[::-1]):
        cells[np.asarray(obs[..., plane]) > 0] = stone
    return cells


def tree_grid(
    tree: Tree, position: int, letters: tuple[str, str] = LETTERS
) -> Shaped[np.ndarray, "H W"]:
    """Return the cells of an enumerated position, `(H, W)`."""
    return grid(np.asarray(tree.obs[position]), tree.to_move(position), letters)


def cells_as_text(tree: Tree, position: int, letters: tuple[str, str] = LETTERS) -> str:
    """Return a position's cells, row by row, as one string such as `X---O----`."""
    return "".join(tree_grid(tree, position, letters).flat)


def side_by_side(
    tree: Tree, line: Sequence[tuple[int, int]], letters: tuple[str, str] = LETTERS
) -> str:
    """Return a game as boards side by side, each below its latest move.

    `line` has a position and the action there for each move.
    """
    movers: list[Seat] = [tree.to_move(position) for position, _ in line]
    boards = [tree_grid(tree, int(tree.successor[move]), letters) for move in line]
    actions = [action for _, action in line]
    return in_a_row(labelled(letters, movers, actions, boards))


def labelled(
    letters: tuple[str, str],
    movers: Sequence[Seat],
    actions: Sequence[int],
    boards: Sequence[Shaped[np.ndarray, "H W"]],
) -> list[list[str]]:
    """Return the lines of each board of a game, the move that led to it first."""
    moves = zip(movers, actions, boards, strict=True)
    return [
        [f"{number}. {letters[SEATS.index(seat)]}{action}", *map(" ".join, board)]
        for number, (seat, action, board) in enumerate(moves, start=1)
    ]


def in_a_row(columns: Sequence[Sequence[str]]) -> str:
    """Return boards side by side, each given by its lines."""
    size = 3 + max((len(cell) for column in columns for cell in column), default=0)
    rows = zip(*columns, strict=True)
    return "\n".join(
        "  " + "".join(f"{cell:<{size}}" for cell in row).rstrip() for row in rows
    )


def numbered(
    cells: Shaped[np.ndarray, "H W"], moves_on: MovesOn, moves: Sequence[int]
) -> Shaped[np.ndarray, "rows W"]:
    """Return the cells with the moves on them, or with a last row of column numbers.

    The action to pass is not shown.
    """
    cells = cells.copy()
    if moves_on == "columns":
        return np.vstack([cells, np.arange(cells.shape[1]).astype(object)])
    for move in moves:
        if move < cells.size:
            cells.flat[move] = move
    return cells


def as_lines(
    cells: Shaped[np.ndarray, "rows W"],
    paint: Callable[[int, str], str] = lambda place, cell: cell,
) -> str:
    """Return rows of cells of one width.

    `paint` may add colours: it gets a cell's place, row by row, and its text.
    """
    size = max(len(str(cell)) for cell in cells.flat)
    painted = [
        " " * (size - len(str(cell))) + paint(place, str(cell))
        for place, cell in enumerate(cells.flat)
    ]
    width = cells.shape[1]
    rows = (painted[begin : begin + width] for begin in range(0, len(painted), width))
    return "\n".join("  " + " ".join(row) for row in rows)


def boxed(
    cells: Shaped[np.ndarray, "H W"],
    width: int = 1,
    paint: Callable[[int, str], str] = lambda place, cell: cell,
    lines: str = "│─┼",
) -> list[str]:
    """Return the lines of a board with lines between the cells, `width` letters each.

    `lines` are its vertical and horizontal lines and where they cross; `paint` is that
    of `as_lines`.
    """
    down, across, cross = lines
    rows = []
    for number, row in enumerate(cells):
        texts = []
        for column, cell in enumerate(row):
            text = str(cell)
            left = (width - len(text) + 1) // 2
            right = width - len(text) - left
            text = paint(number * len(row) + column, text)
            texts.append(f" {' ' * left}{text}{' ' * right} ")
        rows.append(f" {down.join(texts)}")
    rule = " " + cross.join([across * (width + 2)] * cells.shape[1])
    return [line for row in rows for line in (rule, row)][1:]


def drawn_line(env_id: EnvId, line: Sequence[int], width: int = 80) -> str:
    """Return a game as boards side by side, in rows of at most `width` letters."""
    states, letters = one_game.states(env_id, line), letters_of(env_id)
    seats: list[Seat] = [one_game.seat_to_move(states[0], state) for state in states]
    boards = [
        grid(np.asarray(state.observation[0]), seat, letters)
        for state, seat in zip(states, seats, strict=True)
    ]
    columns = labelled(letters, seats[:-1], line, boards[1:])
    each = 3 + max(len(cell) for column in columns for cell in column)
    fit = max((width - 2) // each, 1)
    rows = [columns[begin : begin + fit] for begin in range(0, len(columns), fit)]
    return "\n\n".join(in_a_row(row) for row in rows)
