"""The values of the legal moves, on boards or as a table."""

from collections.abc import Mapping, Sequence

import numpy as np

from jax_ttt.config.catalogue import GAMES
from jax_ttt.games.game import Game
from jax_ttt.players.move_values import MoveValue
from jax_ttt.text import board
from jax_ttt.text.board import Cells
from jax_ttt.text.screen import Screen
from jax_ttt.text.tables import aligned

WORDS = ("loses", "draws", "wins")
"""What a move of exact value -1, 0 or 1 does for its mover under best play."""
_STYLES = ("red", "", "green")  # of these words
_GAP = "    "  # between two boards
_MOST_ROWS = 12  # of the table of values


def shown_values(
    game: Game, worth: Sequence[MoveValue], opponent: str, screen: Screen
) -> str:
    """Return the values of the legal moves: on boards if these are small, or a table.

    `worth` has all legal moves.
    """
    exact = {row.move: v for row in worth if (v := row.minimax_value) is not None}
    learned = {row.move: v for row in worth if (v := row.q_value) is not None}
    cells = board.numbered_cells(game)
    on_cells = GAMES[game.env_id].moves_on == "cells" and (exact or learned)
    if cells is not None and on_cells and board.is_boxed(cells):
        return value_boards(cells, exact, learned, screen)
    return values_table(opponent, worth)


def value_boards(
    cells: Cells,
    exact: Mapping[int, float],
    learned: Mapping[int, float],
    screen: Screen,
) -> str:
    """Return two boards side by side: results under best play, the agent's values.

    `exact` and `learned` are the values of the legal moves; an empty one is left out.
    """
    highest = max(learned.values(), default=0.0)
    blocks = []
    if exact:
        words = {move: WORDS[int(value) + 1] for move, value in exact.items()}
        styles = {move: _STYLES[int(value) + 1] for move, value in exact.items()}
        blocks.append(_titled("best play", cells, words, styles, screen))
    if learned:
        texts = {move: f"{value:+.3f}" for move, value in learned.items()}
        bold = {move: "bold" * (value == highest) for move, value in learned.items()}
        blocks.append(_titled("the agent", cells, texts, bold, screen))
    return board.beside(blocks, _GAP)


def _titled(
    title: str,
    cells: Cells,
    texts: Mapping[int, str],
    styles: Mapping[int, str],
    screen: Screen,
) -> list[str]:
    """Return the lines of a board with texts instead of numbers, and its title."""
    shown = cells.copy()
    for move, text in texts.items():
        shown.flat[move] = text
    lines = board.board_lines(shown, styles, screen.paint, screen.lines)
    rule = lines[1]  # which has no colour
    return [f"  {title:<{len(rule) - 2}}", *lines]


def values_table(opponent: str, worth: Sequence[MoveValue]) -> str:
    """Return a table of the values of the moves, the best first.

    The order is by the agent's values if there are any, else by those of best play.
    """
    exact = [row.minimax_value for row in worth if row.minimax_value is not None]
    learned = [row.q_value for row in worth if row.q_value is not None]
    columns = {"move": [str(row.move) for row in worth]}
    if exact:
        columns["best play"] = [WORDS[int(value) + 1] for value in exact]
    if learned:
        columns["the agent"] = [f"{value:+.3f}" for value in learned]
    if len(columns) == 1:
        return f"{opponent} has no values to show"
    order = np.argsort(-np.array(learned or exact), kind="stable")
    rows = list(zip(*columns.values(), strict=True))
    shown = [tuple(columns), *(rows[row] for row in order[:_MOST_ROWS])]
    return "\n".join(aligned(shown, left=()))
