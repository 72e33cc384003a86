"""Results of several agents: the summary of a group, and rows as cells of a table."""

import dataclasses
from collections.abc import Mapping, Sequence
from statistics import mean, median

from jax_ttt.config.catalogue import Seat
from jax_ttt.config.settings import Config
from jax_ttt.files import records
from jax_ttt.files.outputs import GroupResult, Spread
from jax_ttt.files.records import JsonObject
from jax_ttt.files.rows import AgentResult
from jax_ttt.grading.statistics import wilson_interval


def group_summary(
    rows: Sequence[AgentResult],
    config: Config,
    settings: Mapping[str, object] | None = None,
) -> GroupResult:
    """Return the summary of agents with these settings.

    `settings` are those of a grid. Agents that diverged have no win rates.
    """
    graded = [row.rates for row in rows if not row.diverged]
    wins: dict[Seat, list[float]] = {
        seat: [rates[seat].win_rate for rates in graded if seat in rates]
        for seat in config.seats
    }
    found = GroupResult(
        settings=dict(settings or {}),
        num_agents=len(rows),
        diverged=tuple(row.seed for row in rows if row.diverged),
        win_rates={
            seat: win_rate_spread(rates) for seat, rates in wins.items() if rates
        },
        seconds=median(row.seconds for row in rows),
        agents=tuple(rows),
    )
    if not config.run.can_be_proven:
        return found
    not_proven = tuple(row.seed for row in rows if not row.is_proven)
    proven = len(rows) - len(not_proven)
    return dataclasses.replace(
        found,
        proven=proven,
        interval=wilson_interval(proven, len(rows)),
        not_proven=not_proven,
    )


def win_rate_spread(rates: Sequence[float]) -> Spread:
    """Return the mean, minimum and maximum."""
    return Spread(mean=mean(rates), min=min(rates), max=max(rates))


def as_cells(row: AgentResult) -> JsonObject:
    """Return a row as one level of columns, for CSV."""
    names = ("seed", "games", "seconds", "diverged")
    cells: JsonObject = {name: getattr(row, name) for name in names}
    for seat, rates in row.rates.items():
        of_seat = records.to_dict(rates).items()
        cells |= {f"{seat}_{k}": v for k, v in of_seat if k.endswith("_rate")}
    return cells | {"unbeatable": row.is_proven if row.has_verdict else None}
