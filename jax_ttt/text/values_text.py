"""The values of the legal moves, on boards or as a table."""

from collections.abc import Sequence

import numpy as np

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.players.move_values import MoveValue
from jax_ttt.text import board_text
from jax_ttt.text.board_text import WORDS, Cells
from jax_ttt.text.screen import Screen

_MOST_ROWS = 12  # of the table of values


def shown_values(
    env_id: EnvId,
    cells: Cells | None,
    worth: Sequence[MoveValue],
    opponent: str,
    screen: Screen,
) -> str:
    """Return the values of the legal moves: on boards if these are small, or a table.

    `cells` are the board's, None if it is not drawn; `worth` has all legal moves.
    """
    exact = {row.move: v for row in worth if (v := row.minimax_value) is not None}
    learned = {row.move: v for row in worth if (v := row.q_value) is not None}
    moves_on = GAMES[env_id].moves_on
    on_cells = moves_on == "cells" and cells is not None and board_text.is_boxed(cells)
    if cells is not None and on_cells and (exact or learned):
        return board_text.value_boards(env_id, cells, exact, learned, screen)
    return values_table(opponent, worth)


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
    return "\n".join("".join(f"{cell:>11}" for cell in row) for row in shown)
