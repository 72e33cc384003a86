"""A cross table as text: results, intervals of sampled pairs, and Elo-like order."""

import numpy as np

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.evaluation.crosstable import CrossTable
from jax_ttt.results.counting import counted


def cross_table_text(env_id: EnvId, table: CrossTable) -> str:
    """Return a cross table, the intervals of sampled pairs, and the Elo-like order."""
    first, second = GAMES[env_id].seats
    width = max(map(len, table.names)) + 4
    numbers = [f"vs. {number}" for number in range(1, len(table.names) + 1)]
    lines = [
        f"row as {first}, column as {second}: {first} wins / draws / {second} wins, "
        "in %; ~ sampled, all others exact",
        f"{'':<{width}}" + "".join(f"{number:>17}" for number in numbers),
    ]
    for row, name in enumerate(table.names):
        cells = []
        for column in range(len(table.names)):
            mark = "~" if table.sampled[row, column] else ""
            rates = (f"{100 * rate:.1f}" for rate in table.rates[row, column])
            cells.append(f"{mark + '/'.join(rates):>17}")
        lines.append(f"{f'{row + 1} {name}':<{width}}{''.join(cells)}")
    return "\n".join([*lines, *_intervals(table, (first, second)), "", *_order(table)])


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
    width = max(map(len, table.names))
    lines = [f"{'Elo-like order':<{width + 4}}{'Elo':>7}{'score vs. all others':>22}"]
    for place, (entrant, rating, score) in enumerate(table.order, start=1):
        lines.append(
            f"{place:>2}. {table.names[entrant]:<{width}}{rating:>+7.0f}{score:>22.2%}"
        )
    return lines
