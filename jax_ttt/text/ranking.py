"""A cross table as text: results, intervals of sampled pairs, and Elo-like order."""

import numpy as np

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.grading.crosstable import CrossTable
from jax_ttt.runtime.words import counted
from jax_ttt.text.tables import WIDTH

_LONGEST = 45
"""Characters of a name in the table; the order has the whole name."""


def cross_table_text(env_id: EnvId, table: CrossTable) -> str:
    """Return a cross table, the intervals of sampled pairs, and the Elo-like order.

    A table that is too wide for the terminal has several blocks.
    """
    first, second = GAMES[env_id].seats
    size = len(table.names)
    width = min(max(map(len, table.names)), _LONGEST) + len(f"{size} ")
    at_once = (WIDTH - width) // 17
    lines = [
        f"row as {first}, column as {second}: {first} wins / draws / {second} wins, "
        "in %; ~ sampled, all others exact",
    ]
    for begin in range(0, size, at_once):
        columns = range(begin, min(begin + at_once, size))
        lines += ["", *_block(table, width, columns)]
    del lines[1]
    return "\n".join([*lines, *_intervals(table, (first, second)), "", *_order(table)])


def _block(table: CrossTable, width: int, columns: range) -> list[str]:
    """Return the head and the rows of some columns; the rows' names are `width`."""
    lines = [" " * width + "".join(f"{f'vs. {i + 1}':>17}" for i in columns)]
    for row, name in enumerate(table.names):
        label = f"{row + 1} "
        room = width - len(label)
        label += name if len(name) <= room else f"...{name[3 - room :]}"
        cells = []
        for column in columns:
            mark = "~" if table.sampled[row, column] else ""
            rates = (f"{100 * rate:.1f}" for rate in table.rates[row, column])
            cells.append(f"{mark + '/'.join(rates):>17}")
        lines.append(f"{label:<{width}}{''.join(cells)}")
    return lines


def _intervals(table: CrossTable, names: tuple[str, str]) -> list[str]:
    lines = []
    for row, column in np.argwhere(table.sampled).tolist():
        ends = zip(*table.interval(row, column), strict=True)
        wins, draws, losses = (f"{100 * a:.1f} to {100 * b:.1f}" for a, b in ends)
        lines.append(
            f"~ {row + 1} vs. {column + 1}, "
            f"{counted(int(table.counts[row, column].sum()), 'game')}: "
            f"{names[0]} wins {wins}, draws {draws}, {names[1]} wins {losses}"
        )
    return ["", "95 % intervals, in %", *lines] if lines else []


def _order(table: CrossTable) -> list[str]:
    lines = ["Elo-like order   Elo  score vs. all others  player"]
    for place, (entrant, rating, score) in enumerate(table.order, start=1):
        name = table.names[entrant]
        lines.append(f"{place:>2}. {rating:>+16.0f}{score:>22.2%}  {name}")
    return lines
