"""Boards as text: a board's cells, its lines, the boards of a game side by side.

Axes: `H` rows, `W` columns.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import jax
import numpy as np
from jaxtyping import Shaped

from jax_ttt.config.game_facts import (
    GAMES,
    LETTERS,
    EnvId,
    Seat,
    letters_from,
    move_name,
    move_with_letter,
)
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game
from jax_ttt.games.tree import Tree
from jax_ttt.text.screen import Screen
from jax_ttt.text.tables import terminal_width

FREE_SIGN = "-"
"""The sign of a free cell in a board such as `X---O----`."""
_NO_MOVE = "."  # a free cell that names no move
_MAX_BOXED = 4  # rows or columns of a board with lines between its cells
_STONE_STYLES = dict(zip(LETTERS, ("bold magenta", "bold blue"), strict=True))

Cells = Shaped[np.ndarray, "rows W"]
"""The cells of a board, and for columns a row of numbers, all as strings."""


def board_cells(
    obs: Shaped[np.ndarray, "H W planes"], to_move: Seat, free: str = FREE_SIGN
) -> Shaped[np.ndarray, "H W"]:
    """Return a board's cells as strings: the letters of stones, or `free`.

    The first two planes of `obs` are the stones of the player to move and of the
    opponent; other planes are ignored.
    """
    cells = np.full(obs.shape[:2], free, object)
    for plane, stone in enumerate(letters_from(to_move)):
        cells[np.asarray(obs[..., plane]) > 0] = stone
    return cells


def cells_as_text(tree: Tree, position: int) -> str:
    """Return a position's cells as one string, row by row: `X---O----`."""
    cells = board_cells(np.asarray(tree.obs[position]), tree.to_move(position))
    return "".join(cells.flat)


def find_position(env_id: EnvId, cells: str) -> int:
    """Return the position in the game's tree of a board such as `X---O----`.

    A free cell may be a point, too.

    Raises:
        ValueError: it is not a board, no game reaches it, or its game is over.
    """
    tree = trees.enumerated(env_id)
    cells = cells.replace(".", FREE_SIGN)
    size = math.prod(GAMES[env_id].shape)
    first, second = LETTERS
    stone_values = {first: 1, second: -1, FREE_SIGN: 0}
    if len(cells) != size or not stone_values.keys() >= set(cells):
        raise ValueError(f"not {size} cells, each {first}, {second} or . (free)")
    mover = 1 if cells.count(first) == cells.count(second) else -1
    features = [mover * stone_values[cell] for cell in cells]
    planes = np.array([[feature == sign for sign in (1, -1)] for feature in features])
    obs = planes.reshape(1, *GAMES[env_id].shape, 2)
    position = int(trees.position_index(env_id).of_boards(obs)[0])
    if cells_as_text(tree, position) != cells:
        raise ValueError("no play leads to this board")
    if position not in tree.decisions:
        raise ValueError("the game is over")
    return position


def moves_to_board(env_id: EnvId, cells: str) -> tuple[int, ...]:
    """Return moves that lead to a board, as `find_position`."""
    tree = trees.enumerated(env_id)
    position = find_position(env_id, cells)
    moves: list[int] = []
    while position:
        leads_here = tree.legal_action_mask & (tree.successor == position)
        position, move = np.argwhere(leads_here)[0].tolist()
        moves.append(move)
    return tuple(reversed(moves))


def numbered_cells(game: Game) -> Cells | None:
    """Return a game's board with the names of its moves on the free cells.

    The names are from `game_facts.move_name`. Where moves are columns, they are
    in a row below the board. The action to pass has no cell. The result is None for
    games with several kinds of pieces, and if a user's function draws the board.
    """
    moves_on = GAMES[game.env_id].moves_on
    if moves_on is None or GAMES[game.env_id].board_text is not None:
        return None
    obs = np.asarray(game.state.observation)[0]
    cells = board_cells(obs, game.to_move, free=_NO_MOVE)
    if moves_on == "columns":
        names = [move_name(game.env_id, column) for column in range(cells.shape[1])]
        return np.vstack([cells, np.array(names, object)])
    for move in game.legal_moves:
        if move < cells.size:
            cells.flat[move] = move_name(game.env_id, move)
    return cells


def shows_all_moves(game: Game) -> bool:
    """Return whether the moves that the board names are exactly the legal ones.

    They are not if a column is full, since it keeps its name, or if a player may
    pass, since a pass has no cell.
    """
    cells = numbered_cells(game)
    if cells is None:
        return False
    names = {*cells.flat} - {*LETTERS, _NO_MOVE}
    return names == {move_name(game.env_id, move) for move in game.legal_moves}


def board_text(game: Game, screen: Screen | None = None) -> str:
    """Return a game's board, with the moves on their cells or below their columns.

    A user's function for the board comes first.

    With a screen, small boards have lines between the cells, stones have colours, and
    the latest stone is underlined.
    """
    cells = numbered_cells(game)
    if cells is None:
        lines = _user_lines(game) or [f"({game.env_id} is not drawn in text)"]
        return "\n".join(lines)
    if screen is None:
        return "\n".join(board_lines(cells))
    styles = {}
    latest = _latest_cell(game, cells)
    if latest is not None:
        styles[latest] = f"{_STONE_STYLES[cells.flat[latest]]} underline"
    box = screen.lines if is_boxed(cells) else ""
    lines = board_lines(cells, styles, screen.paint, box)
    return "\n".join(line.rstrip() for line in lines)


def _user_lines(game: Game) -> list[str]:
    """Return the lines of a board that a user's function writes; none without one."""
    text_of = GAMES[game.env_id].board_text
    if text_of is None:
        return []
    state = jax.tree.map(lambda leaf: leaf[0], jax.device_get(game.state))
    return [f"  {line}".rstrip() for line in text_of(state).splitlines()]


def _latest_cell(game: Game, cells: Cells) -> int | None:
    """Return the cell of the latest move; None before any move and after a pass."""
    if not game.moves:
        return None
    cell = game.moves[-1]
    if GAMES[game.env_id].moves_on == "columns":
        is_stone = [text in _STONE_STYLES for text in cells[:, cell]]
        cell += is_stone.index(True) * cells.shape[1]  # the highest stone
    if cell < cells.size and cells.flat[cell] in _STONE_STYLES:
        return cell
    return None


def is_boxed(cells: Cells) -> bool:
    """Return whether a board is small enough for lines between its cells."""
    return max(cells.shape) <= _MAX_BOXED


def board_lines(
    cells: Cells,
    styles: Mapping[int, str] | None = None,
    paint: Callable[[str, str], str] = lambda text, style: text,
    box: str = "",
) -> list[str]:
    """Return the lines of a board; without the codes of colours, they are equally long.

    All cells are as wide as the widest. `paint(text, style)` colours a cell in the
    style that `styles` has for its number, row by row, else in its stone's style. `box`
    has the vertical line, the horizontal line and the crossing between cells, as
    `screen.LINES`; without it there are no lines.
    """
    width = max(len(str(cell)) for cell in cells.flat)
    cell_styles = styles or {}
    texts = []
    for place, cell in enumerate(cells.flat):
        text = str(cell)
        style = cell_styles.get(place, _STONE_STYLES.get(text, "dim"))
        space = width - len(text)
        right = space // 2 if box else 0
        texts.append(" " * (space - right) + paint(text, style) + " " * right)
    across = cells.shape[1]
    rows = [texts[begin : begin + across] for begin in range(0, cells.size, across)]
    if not box:
        return ["  " + " ".join(row) for row in rows]
    vertical, horizontal, cross = box
    rule = " " + cross.join([horizontal * (width + 2)] * across)
    lines = [f"  {f' {vertical} '.join(row)} " for row in rows]
    return [text for line in lines for text in (rule, line)][1:]


def side_by_side(blocks: Sequence[Sequence[str]], gap: str) -> str:
    """Return blocks of lines side by side; the lines of a block are equally long."""
    rows = zip(*blocks, strict=True)
    return "\n".join(gap.join(parts).rstrip() for parts in rows)


def game_boards(game: Game) -> str:
    """Return a game as boards side by side, each below the move that led to it.

    The rows of boards fit the terminal. Boards that are not drawn in text are left out.
    """
    blocks = []
    for number, move in enumerate(game.moves, start=1):
        before, after = game.back_to(number - 1), game.back_to(number)
        name = move_with_letter(game.env_id, before.to_move, move)
        lines = _user_lines(after)
        if not lines and GAMES[game.env_id].moves_on is not None:
            obs = np.asarray(after.state.observation)[0]
            lines = board_lines(board_cells(obs, after.to_move))
        blocks.append([f"  {number}. {name}", *lines])
    height = max(map(len, blocks), default=0)
    blocks = [block + [""] * (height - len(block)) for block in blocks]
    width = max((len(line) for block in blocks for line in block), default=0)
    padded = [[f"{line:<{width}}" for line in block] for block in blocks]
    per_row = max((terminal_width() - 2) // (width + 1), 1)
    rows = [padded[begin : begin + per_row] for begin in range(0, len(padded), per_row)]
    return "\n\n".join(side_by_side(row, " ") for row in rows)
