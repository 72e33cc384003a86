"""The board of a session, and values on a board, for a terminal of 80 columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Shaped

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.players import session
from jax_ttt.players.session import MoveValue, Session
from jax_ttt.reports import session_text, text_board
from jax_ttt.terminal.screen import Screen

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


def board(game: Session, screen: Screen) -> str:
    """Return the board with the numbers of the moves; the last move is underlined."""
    cells = session_text.numbered_cells(game)
    if cells is None:
        return session_text.board(game)
    paint = _stone_painter(game, screen, cells)
    if is_boxed(cells):
        return "\n".join(text_board.boxed(cells, 1, paint, screen.lines))
    return text_board.as_lines(cells, paint)


def is_boxed(cells: Cells) -> bool:
    """Return whether a board is small enough for lines between its cells."""
    return max(cells.shape) <= _WIDEST_BOX


def undrawn_moves(game: Session) -> tuple[int, ...]:
    """Return the legal moves if the numbers on the board are not just these.

    For instance a full column has a number, and a pass has none.
    """
    legal = session.legal_moves(game)
    cells = session_text.numbered_cells(game)
    if cells is None:
        return legal
    numbers = {int(cell) for cell in cells.flat if isinstance(cell, int)}
    return legal if numbers != set(legal) else ()


def _stone_styles(env_id: EnvId) -> dict[str, str]:
    return dict(zip(text_board.letters_of(env_id), _STONES, strict=True))


def _stone_painter(
    game: Session, screen: Screen, cells: Cells
) -> Callable[[int, str], str]:
    """Return what colours stones by their player and numbers as less important."""
    styles = _stone_styles(game.env_id)
    latest = game.moves[-1] if game.moves else None
    if GAMES[game.env_id].moves_on == "columns" and latest is not None:
        taken = [cell in styles for cell in cells[:, latest]]
        latest += taken.index(True) * cells.shape[1]  # the highest stone

    def paint(place: int, cell: str) -> str:
        mark = " underline" if place == latest and cell in styles else ""
        return screen.paint(cell, styles.get(cell, "dim") + mark)

    return paint


def value_boards(
    env_id: EnvId, cells: Cells, rows: Sequence[MoveValue], screen: Screen
) -> str:
    """Return two boards side by side: results under best play, the agent's values.

    `rows` are the values of all legal moves; a layer that is not known is left out.
    """
    exact = {row.move: row.minimax_value for row in rows}
    learned = {row.move: row.q_value for row in rows}
    layers: dict[str, dict[int, _Shown]] = {
        "best play": {
            move: _Shown(WORDS[int(value) + 1], _STYLES[int(value) + 1])
            for move, value in exact.items()
            if value is not None
        },
        "the agent": {
            move: _Shown(f"{value:+.3f}", "bold" * (value == _highest(learned)))
            for move, value in learned.items()
            if value is not None
        },
    }
    blocks = [
        _titled(title, env_id, cells, layer, screen)
        for title, layer in layers.items()
        if layer
    ]
    return "\n".join(_GAP.join(parts) for parts in zip(*blocks, strict=True))


def _highest(values: Mapping[int, float | None]) -> float:
    return max(value for value in values.values() if value is not None)


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
