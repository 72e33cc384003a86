"""Boards as text: the cells of a board, lines of cells, boards side by side.

Axes: `H` rows, `W` columns.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Shaped

from jax_ttt.config.game_facts import GAMES, LETTERS, SEATS, EnvId, Seat
from jax_ttt.games import positions, stones
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game
from jax_ttt.games.tree import Tree
from jax_ttt.text.screen import Screen

FREE_SIGN = "-"
"""A free cell in a position's string."""

_WIDTH = 80  # of a terminal, for boards side by side
_WIDEST_BOX = 4  # cells beside each other, with lines between them
_STONES = dict(zip(LETTERS, ("bold magenta", "bold blue"), strict=True))

Cells = Shaped[np.ndarray, "rows W"]
"""The cells of a board, maybe with a row of numbers below: strings and numbers."""


def board_cells(
    obs: Shaped[np.ndarray, "H W planes"], to_move: Seat, free: str = FREE_SIGN
) -> Shaped[np.ndarray, "H W"]:
    """Return a board's cells as an array of strings, `(H, W)`.

    The first two planes of `obs`, `(H, W, planes)`, are the stones of the player to
    move and of the opponent.
    """
    cells = np.full(obs.shape[:2], free, object)
    for plane, stone in enumerate(LETTERS if to_move == "first" else LETTERS[::-1]):
        cells[np.asarray(obs[..., plane]) > 0] = stone
    return cells


def position_cells(tree: Tree, position: int) -> Shaped[np.ndarray, "H W"]:
    """Return the cells of an enumerated position, `(H, W)`."""
    return board_cells(np.asarray(tree.obs[position]), tree.to_move(position))


def cells_as_text(tree: Tree, position: int) -> str:
    """Return a position's cells, row by row, as one string such as `X---O----`."""
    return "".join(position_cells(tree, position).flat)


def find_position(env_id: EnvId, cells: str) -> int:
    """Return the position of an enumerable game that is written as `cells`.

    Raises:
        ValueError: there is no such board, no play reaches it, or its game is over.
    """
    tree = trees.enumerated(env_id)
    size = math.prod(GAMES[env_id].shape)
    first, second = LETTERS
    worth = {first: 1, second: -1, FREE_SIGN: 0}
    if len(cells) != size or not worth.keys() >= set(cells):
        raise ValueError(f"not {size} of {first}, {second} and what is free")
    mover = 1 if cells.count(first) == cells.count(second) else -1
    features = [mover * worth[cell] for cell in cells]
    number = stones.board_number(jnp.array([features], jnp.float32))
    position = int(positions.position_index(env_id)[number][0])
    if cells_as_text(tree, position) != cells:
        raise ValueError("no play leads to this board")
    if position not in tree.decisions:
        raise ValueError("the game is over")
    return position


def numbered_cells(game: Game) -> Cells | None:
    """Return the cells of a game with its moves on them.

    Where moves are columns, a last row has their numbers instead. The action to pass is
    not shown. The result is None for games with several kinds of pieces.
    """
    moves_on = GAMES[game.env_id].moves_on
    if moves_on is None:
        return None
    obs = np.asarray(game.state.observation[0])
    cells = board_cells(obs, game.to_move, free=".")
    if moves_on == "columns":
        return np.vstack([cells, np.arange(cells.shape[1]).astype(object)])
    for move in game.legal_moves:
        if move < cells.size:
            cells.flat[move] = move
    return cells


def shows_all_moves(game: Game) -> bool:
    """Return whether the numbers on the board are just the legal moves.

    For instance a full column has a number too, and a pass has none.
    """
    cells = numbered_cells(game)
    if cells is None:
        return False
    numbers = {cell for cell in cells.flat if isinstance(cell, int)}
    return numbers == set(game.legal_moves)


def board_text(game: Game, screen: Screen | None = None) -> str:
    """Return a game's board, with the moves on their cells or below their columns.

    On a screen, small boards have lines between the cells, stones have colours, and the
    latest one is underlined.
    """
    cells = numbered_cells(game)
    if cells is None:
        return f"({game.env_id} is not drawn in text)"
    if screen is None:
        return "\n".join(board_lines(cells))
    styles = {}
    latest = game.moves[-1] if game.moves else None
    if latest is not None and GAMES[game.env_id].moves_on == "columns":
        taken = [cell in _STONES for cell in cells[:, latest]]
        latest += taken.index(True) * cells.shape[1]  # the highest stone
    if latest is not None and latest < cells.size and cells.flat[latest] in _STONES:
        styles[latest] = f"{_STONES[cells.flat[latest]]} underline"
    box = screen.lines if is_boxed(cells) else ""
    lines = board_lines(cells, styles, screen.paint, box)
    return "\n".join(line.rstrip() for line in lines)


def is_boxed(cells: Cells) -> bool:
    """Return whether a board is small enough for lines between its cells."""
    return max(cells.shape) <= _WIDEST_BOX


def board_lines(
    cells: Cells,
    styles: Mapping[int, str] | None = None,
    paint: Callable[[str, str], str] = lambda text, style: text,
    box: str = "",
) -> list[str]:
    """Return the lines of a board, equally long where it is seen.

    All cells are as wide as the widest. `paint` gets each one's text and style, of
    rich: that of its place, row by row, in `styles`, else its stone's. `box` has the
    vertical and the horizontal line between cells, and where they cross.
    """
    width = max(len(str(cell)) for cell in cells.flat)
    known = styles or {}
    painted = []
    for place, cell in enumerate(cells.flat):
        text = str(cell)
        space = width - len(text)
        right = space // 2 if box else 0
        text = paint(text, known.get(place, _STONES.get(text, "dim")))
        painted.append(" " * (space - right) + text + " " * right)
    across = cells.shape[1]
    rows = [painted[begin : begin + across] for begin in range(0, cells.size, across)]
    if not box:
        return ["  " + " ".join(row) for row in rows]
    vertical, horizontal, cross = box
    rule = " " + cross.join([horizontal * (width + 2)] * across)
    texts = [f"  {f' {vertical} '.join(row)} " for row in rows]
    return [line for text in texts for line in (rule, text)][1:]


def side_by_side(blocks: Sequence[Sequence[str]], gap: str) -> str:
    """Return blocks side by side; the lines of a block are equally long."""
    rows = zip(*blocks, strict=True)
    return "\n".join(gap.join(parts).rstrip() for parts in rows)


def game_boards(game: Game) -> str:
    """Return a game as boards side by side, each below the move that led to it.

    The rows of boards fit a terminal.
    """
    blocks = []
    for number, move in enumerate(game.moves, start=1):
        before, after = game.back_to(number - 1), game.back_to(number)
        letter = LETTERS[SEATS.index(before.to_move)]
        cells = board_cells(np.asarray(after.state.observation[0]), after.to_move)
        blocks.append([f"  {number}. {letter}{move}", *board_lines(cells)])
    size = max((len(line) for block in blocks for line in block), default=0)
    padded = [[f"{line:<{size}}" for line in block] for block in blocks]
    fit = max((_WIDTH - 2) // (size + 1), 1)
    rows = [padded[begin : begin + fit] for begin in range(0, len(padded), fit)]
    return "\n\n".join(side_by_side(row, " ") for row in rows)
