"""Results of several agents: the summary of a group, and rows as cells of a table."""

import dataclasses
from collections.abc import Mapping, Sequence
from statistics import mean, median

from jax_ttt.config import settings_grid
from jax_ttt.config.game_facts import Seat
from jax_ttt.config.grade import Grade, Interval, wilson_interval
from jax_ttt.config.settings import Config
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.metrics_rows import AgentResult
from jax_ttt.files.sweep_file import SweepFile

MeanAndRange = tuple[float, float, float]
"""The mean, the lowest and the highest of a figure over many agents."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupResult:
    """Results of agents with the same settings.

    `proven`, `interval` and `not_proven` are None where no proof is possible.
    """

    settings: dict[str, object]
    """One combination of the grid; empty without a grid."""
    num_agents: int
    """The number of trained agents."""
    proven: int | None = None
    """The number of agents that are proven unbeatable."""
    interval: Interval | None = None
    """95% interval of the share of proven agents."""
    not_proven: tuple[int, ...] | None = None
    """Seeds of the agents that are not proven."""
    diverged: tuple[int, ...]
    """Seeds of the agents whose training diverged."""
    win_rates: dict[Seat, MeanAndRange]
    """Win rates against random by learned seat, of the agents that did not diverge: the
    mean, the lowest and the highest."""
    seconds: float
    """Median time spent training one agent."""
    agents: tuple[AgentResult, ...]
    """The agents."""


def group_summary(
    rows: Sequence[AgentResult],
    config: Config,
    settings: Mapping[str, object] | None = None,
) -> GroupResult:
    """Return the summary of agents with these settings.

    `settings` are the settings of a grid. Agents that diverged have no win rates.
    """
    all_rates = [row.grade.rates for row in rows if row.grade is not None]
    win_rates: dict[Seat, list[float]] = {
        seat: [rates[seat].win_rate for rates in all_rates if seat in rates]
        for seat in config.seats
    }
    summary = GroupResult(
        settings=dict(settings or {}),
        num_agents=len(rows),
        diverged=tuple(row.seed for row in rows if row.diverged),
        win_rates={
            seat: (mean(rates), min(rates), max(rates))
            for seat, rates in win_rates.items()
            if rates
        },
        seconds=median(row.seconds for row in rows),
        agents=tuple(rows),
    )
    if not config.can_be_proven:
        return summary
    not_proven = tuple(row.seed for row in rows if not row.is_proven)
    proven = len(rows) - len(not_proven)
    return dataclasses.replace(
        summary,
        proven=proven,
        interval=wilson_interval(proven, len(rows)),
        not_proven=not_proven,
    )


def sweep_groups(file: SweepFile) -> list[GroupResult]:
    """Return the summaries of a sweep's combinations that have finished agents."""
    grid = settings_grid.read_grid(file.sweep.grid, file.sweep.config)
    points = settings_grid.grid_points(file.sweep.config, grid)
    return [
        group_summary(rows, config, point)
        for number, (point, config) in enumerate(points)
        if (rows := file.rows(number))
    ]


def csv_row(row: AgentResult) -> JsonObject:
    """Return a row as the cells of a line in a CSV file, by column."""
    names = ("seed", "games", "seconds", "diverged")
    cells: JsonObject = {name: getattr(row, name) for name in names}
    return cells | grade_cells(row.grade)


def grade_cells(grade: Grade | None) -> JsonObject:
    """Return a grade as cells by column: the rates against random, and the proof.

    Only a grade that a file says has the column `by_file`.
    """
    if grade is None:
        return {"unbeatable": None}
    cells: JsonObject = {}
    for seat, rates in grade.rates.items():
        for name in ("win_rate", "draw_rate", "loss_rate", "worst_loss_rate"):
            if (rate := getattr(rates, name, None)) is not None:
                cells[f"{seat}_{name}"] = rate
    cells["unbeatable"] = grade.unbeatable
    return cells | {"by_file": True} if grade.by_file else cells
