"""A cross table as text: results, intervals of sampled pairs, and Elo-like order."""

from collections.abc import Sequence

import numpy as np

from jax_ttt.config import grid
from jax_ttt.config.game_facts import GAMES, SEATS, EnvId
from jax_ttt.grading.agent_groups import GroupResult, MeanAndRange
from jax_ttt.grading.crosstable import CrossTable
from jax_ttt.runtime.words import counted
from jax_ttt.text.tables import GAP, WIDTH, aligned_lines, wrapped_lines

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
        lines += ["", *aligned_lines([head, *rows])]
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
        pair = table.pairs[row][column]
        wins, draws, losses = (
            f"{100 * rate.low:.1f} to {100 * rate.high:.1f}" for rate in pair.rates
        )
        lines.append(
            f"~ {row + 1} vs. {column + 1}, {counted(pair.num_games, 'game')}: "
            f"{names[0]} wins {wins}, draws {draws}, {names[1]} wins {losses}"
        )
    return ["", "95 % intervals, in %", *lines] if lines else []


def _order(table: CrossTable) -> list[str]:
    rows = [["Elo-like order", "Elo", "score vs. all others", "player"]]
    rows += [
        [f"{place:>2}.", f"{one.elo:+.0f}", f"{one.score:.2%}", one.player]
        for place, one in enumerate(table.ranking, start=1)
    ]
    return aligned_lines(rows, left=(0, 3))


def groups_table(groups: Sequence[GroupResult], env_id: EnvId, name: str) -> str:
    """Return what came of each combination, a line each, and which seeds failed.

    `name` stands for the combination of a sweep without a grid.
    """
    labels = [grid.point_text(group.settings) or name for group in groups]
    wins = (f"wins as {seat}, %: mean (range)" for seat in GAMES[env_id].seats)
    head = "proven unbeatable (95 %)", *wins, "seconds"
    pairs = list(zip(labels, groups, strict=True))
    rows = [(label, *_cells(group)) for label, group in pairs]
    lines = aligned_lines([("", *head), *rows], labels_above=True)
    faults = [("not proven", label, group.not_proven or ()) for label, group in pairs]
    faults += [("diverged", label, group.diverged) for label, group in pairs]
    for text, label, seeds in (fault for fault in faults if fault[2]):
        lines += wrapped_lines(f"{text}, {label}: {', '.join(map(str, seeds))}")
    return "\n".join(lines)


def training_time_text(
    groups: Sequence[GroupResult], num_new: int, seconds: float
) -> str:
    """Return how many agents there are, and what the `num_new` trained now took."""
    num_agents = sum(group.num_agents for group in groups)
    now = f", {num_new:,} of them trained now" if num_new < num_agents else ""
    now += f" in {seconds:.1f} s, {seconds / num_new:.2f} s each" if num_new else ""
    end = "the seconds above are of training one, in the median"
    return f"{counted(num_agents, 'agent')}{now}; {end}"


def _cells(group: GroupResult) -> tuple[str, ...]:
    wins = map(_wins, map(group.win_rates.get, SEATS))
    return _proven(group), *wins, f"{group.seconds:.2f}"


def _proven(group: GroupResult) -> str:
    if group.proven is None or group.interval is None:
        return "by sampling"
    low, high = (f"{100 * end:.1f}" for end in group.interval)
    return f"{group.proven} of {group.num_agents} ({low} to {high} %)"


def _wins(wins: MeanAndRange | None) -> str:
    if wins is None:
        return "-"
    mean, low, high = (100 * rate for rate in (wins.mean, wins.min, wins.max))
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"
