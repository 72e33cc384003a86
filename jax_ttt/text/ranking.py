"""A cross table as text: results, intervals of sampled pairs, and Elo-like order."""

import numpy as np

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.grading.crosstable import CrossTable
from jax_ttt.runtime.words import counted
from jax_ttt.text.tables import GAP, WIDTH, aligned

_LONGEST = 45
"""Characters of a name in the table; the order has the whole name."""
_WIDEST = len("~33.3/33.3/33.3")


def cross_table_text(env_id: EnvId, table: CrossTable) -> str:
    """Return a cross table, the intervals of sampled pairs, and the Elo-like order.

    A table that is too wide for the terminal has several blocks.
    """
    first, second = GAMES[env_id].seats
    size = len(table.names)
    labels = [_label(n, name) for n, name in enumerate(table.names, start=1)]
    at_once = (WIDTH - max(map(len, labels))) // (len(GAP) + _WIDEST)
    lines = [
        f"row as {first}, column as {second}: {first} wins / draws / {second} wins, "
        "in %; ~ sampled, all others exact",
    ]
    for begin in range(0, size, at_once):
        columns = range(begin, min(begin + at_once, size))
        head = ["", *(f"vs. {column + 1}" for column in columns)]
        rows = [
            [label, *(_cell(table, row, column) for column in columns)]
            for row, label in enumerate(labels)
        ]
        lines += ["", *aligned([head, *rows])]
    del lines[1]
    return "\n".join([*lines, *_intervals(table, (first, second)), "", *_order(table)])


def _label(number: int, name: str) -> str:
    """Return a row's number and its player's name, of a long one the end."""
    shown = name if len(name) <= _LONGEST else f"...{name[3 - _LONGEST :]}"
    return f"{number} {shown}"


def _cell(table: CrossTable, row: int, column: int) -> str:
    """Return wins, draws and losses of a pair, marked where they were sampled."""
    mark = "~" if table.sampled[row, column] else ""
    return mark + "/".join(f"{100 * rate:.1f}" for rate in table.rates[row, column])


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
    rows = [("Elo-like order", "Elo", "score vs. all others", "player")]
    for place, (entrant, rating, score) in enumerate(table.order, start=1):
        name = table.names[entrant]
        rows.append((f"{place:>2}.", f"{rating:+.0f}", f"{score:.2%}", name))
    return aligned(rows, left=(0, 3))
