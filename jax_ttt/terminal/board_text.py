"""The board of a session, and values on a board, for a terminal of 80 columns."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Shaped

from jax_ttt.config.catalogue import GAMES
from jax_ttt.players import session
from jax_ttt.players.session import MoveValue, Session
from jax_ttt.reports import session_text, text_board
from jax_ttt.terminal.screen import Screen

WORDS = ("loses", "draws", "wins")
"""What a move of exact value -1, 0 or 1 does for its mover under best play."""
STYLES = ("red", "", "green")
"""Their styles."""
_WIDEST_BOX = 4  # cells beside each other, with lines between them
_STONES = ("bold magenta", "bold blue")  # of the first player and of the second


def board(game: Session, screen: Screen) -> str:
    """Return the board with the numbers of the moves; the last move is underlined."""
    cells = session_text.numbered_cells(game)
    if cells is None:
        return session_text.board(game)
    paint = _stone_painter(game, screen, cells)
    if is_boxed(cells):
        return "\n".join(text_board.boxed(cells, 1, paint, screen.lines))
    return text_board.as_lines(cells, paint)


def is_boxed(cells: Shaped[np.ndarray, "rows W"]) -> bool:
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


def _stone_painter(
    game: Session, screen: Screen, cells: Shaped[np.ndarray, "rows W"]
) -> Callable[[int, str], str]:
    """Return what colours stones by their player and numbers as less important."""
    styles = dict(zip(text_board.letters_of(game.env_id), _STONES, strict=True))
    latest = game.moves[-1] if game.moves else None
    if GAMES[game.env_id].moves_on == "columns" and latest is not None:
        column = [isinstance(cell, str) and cell in styles for cell in cells[:, latest]]
        latest += column.index(True) * cells.shape[1]

    def paint(place: int, cell: str) -> str:
        style = styles.get(cell, "dim")
        underlined = " underline" if place == latest and cell in styles else ""
        return screen.paint(cell, style + underlined)

    return paint


def value_boards(
    cells: Shaped[np.ndarray, "H W"], rows: Sequence[MoveValue], screen: Screen
) -> str:
    """Return two boards side by side: results under best play, the agent's values.

    `rows` are the values of all legal moves; a layer that is not known is left out.
    """
    layers: list[tuple[str, dict[int, tuple[str, str]]]] = []
    if all(row.minimax_value is not None for row in rows):
        found = {row.move: int(row.minimax_value or 0) + 1 for row in rows}
        layers.append(
            ("best play", {m: (WORDS[v], STYLES[v]) for m, v in found.items()})
        )
    if all(row.q_value is not None for row in rows):
        worth = {row.move: row.q_value or 0.0 for row in rows}
        best = max(worth.values())
        layers.append(
            (
                "the agent",
                {m: (f"{v:+.3f}", "bold" * (v == best)) for m, v in worth.items()},
            )
        )
    blocks = [_titled(name, cells, layer, screen) for name, layer in layers]
    return "\n".join("   ".join(parts).rstrip() for parts in zip(*blocks, strict=True))


def _titled(
    title: str,
    cells: Shaped[np.ndarray, "rows W"],
    layer: dict[int, tuple[str, str]],
    screen: Screen,
) -> list[str]:
    """Return a board with values instead of numbers, below its title."""
    shown = cells.copy()
    for move, (text, _) in layer.items():
        shown.flat[move] = text

    def paint(place: int, cell: str) -> str:
        return screen.paint(cell, layer[place][1] if place in layer else "dim")

    width = max(len(text) for text, _ in layer.values())
    lines = text_board.boxed(shown, width, paint, screen.lines)
    room = 1 + shown.shape[1] * (width + 3) - 1
    return [f" {title[: room - 1]:<{room - 1}}", *lines]
