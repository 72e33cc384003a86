"""Boards and values on boards for a terminal of 80 columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Shaped

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.text import text_board
from jax_ttt.text.screen import Screen

WORDS = ("loses", "draws", "wins")
"""What a move of exact value -1, 0 or 1 does for its mover under best play."""
_STYLES = ("red", "", "green")  # of these words
_STONES = ("bold magenta", "bold blue")  # of the first player and of the second
_WIDEST_BOX = 4  # cells beside each other, with lines between them
_GAP = "    "  # between two boards

Cells = Shaped[np.ndarray, "rows W"]


class _Shown(NamedTuple):
    text: str
    style: str


def drawn_board(
    env_id: EnvId, cells: Cells, moves: Sequence[int], screen: Screen
) -> str:
    """Return a board; the stone of the last of the game's `moves` is underlined.

    `cells` are those of `session_text.numbered_cells`.
    """
    paint = _stone_painter(env_id, cells, moves, screen)
    if is_boxed(cells):
        rows = text_board.boxed(cells, 1, paint, screen.lines)
        return "\n".join(row.rstrip() for row in rows)
    return text_board.as_lines(cells, paint)


def is_boxed(cells: Cells) -> bool:
    """Return whether a board is small enough for lines between its cells."""
    return max(cells.shape) <= _WIDEST_BOX


def are_shown(moves: Sequence[int], cells: Cells) -> bool:
    """Return whether the numbers on a board are just these moves.

    For instance a full column has a number too, and a pass has none.
    """
    return {cell for cell in cells.flat if isinstance(cell, int)} == set(moves)


def _stone_styles(env_id: EnvId) -> dict[str, str]:
    return dict(zip(text_board.letters_of(env_id), _STONES, strict=True))


def _stone_painter(
    env_id: EnvId, cells: Cells, moves: Sequence[int], screen: Screen
) -> Callable[[int, str], str]:
    """Return what colours stones by their player and numbers as less important."""
    styles, moves_on = _stone_styles(env_id), GAMES[env_id].moves_on
    latest = moves[-1] if moves else None
    if moves_on == "columns" and latest is not None:
        taken = [cell in styles for cell in cells[:, latest]]
        latest += taken.index(True) * cells.shape[1]  # the highest stone

    def paint(place: int, cell: str) -> str:
        mark = " underline" if place == latest and cell in styles else ""
        return screen.paint(cell, styles.get(cell, "dim") + mark)

    return paint


def value_boards(
    env_id: EnvId,
    cells: Cells,
    exact: Mapping[int, float],
    learned: Mapping[int, float],
    screen: Screen,
) -> str:
    """Return two boards side by side: results under best play, the agent's values.

    `exact` and `learned` are the values of the legal moves; an empty one is left out.
    """
    highest = max(learned.values(), default=0.0)
    layers: dict[str, dict[int, _Shown]] = {
        "best play": {
            move: _Shown(WORDS[int(value) + 1], _STYLES[int(value) + 1])
            for move, value in exact.items()
        },
        "the agent": {
            move: _Shown(f"{value:+.3f}", "bold" * (value == highest))
            for move, value in learned.items()
        },
    }
    blocks = [
        _titled(title, env_id, cells, layer, screen)
        for title, layer in layers.items()
        if layer
    ]
    rows = (_GAP.join(parts) for parts in zip(*blocks, strict=True))
    return "\n".join(row.rstrip() for row in rows)


def _titled(
    title: str,
    env_id: EnvId,
    cells: Cells,
    layer: Mapping[int, _Shown],
    screen: Screen,
) -> list[str]:
    """Return the lines of a board with values instead of numbers, and its title."""
    shown, styles = cells.copy(), _stone_styles(env_id)
    for move, value in layer.items():
        shown.flat[move] = value.text

    def paint(place: int, cell: str) -> str:
        return screen.paint(
            cell, layer[place].style if place in layer else styles.get(cell, "")
        )

    width = max(len(value.text) for value in layer.values())
    lines = text_board.boxed(shown, width, paint, screen.lines)
    return [f"  {title:<{shown.shape[1] * (width + 3) - 2}}", *lines]
