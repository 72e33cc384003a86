"""Train the published systems again, and compare the results with the published ones.

python -m tools.published
"""

import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Literal

import tyro

from jax_ttt import __version__, cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.game_facts import Seat
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.ranges import NumSeeds, Seed, check_seeds
from jax_ttt.config.shared_flags import MachineFlags
from jax_ttt.files import json_records
from jax_ttt.files.metrics_rows import AgentResult
from jax_ttt.grading import agent_groups
from jax_ttt.runtime import atomic_files, standard_streams
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text.tables import wrapped_lines
from jax_ttt.training import many_agents
from tools.benchmarks.progress import Steps
from tools.published_systems import SYSTEMS, PublishedFigures

if TYPE_CHECKING:
    SystemName = str
else:  # the command line needs the choices
    SystemName = Literal[tuple(SYSTEMS)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Reproduce the published systems, and compare the results with the published ones.

    All figures of our agents are exact. An agent that diverges is named, and counts as
    not proven.

    Exit codes: 0 done, 1 failed, 2 bad flags, 130 Ctrl-C (the finished agents are
    shown).
    """

    only: tuple[SystemName, ...] = tuple(SYSTEMS)
    """Systems to train, by their presets."""
    num_seeds: NumSeeds = 20
    """Agents to train of each system."""
    first_seed: Seed = 1000
    """The first seed; the others follow it."""
    csv: Path | None = None
    """File to write a row for each agent to."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the table."""
    machine: MachineFlags = field(default_factory=MachineFlags)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SystemResult:
    """A published system: the authors' figures and ours."""

    title: str
    published: tuple[PublishedFigures, ...]
    reproduced: PublishedFigures
    why: str  # why our figures differ
    agents: tuple[AgentResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PublishedResult:
    """The output of `--json`."""

    device: str
    first_seed: int
    systems: dict[str, SystemResult]  # by preset


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    check_seeds(args.first_seed, args.num_seeds)
    atomic_files.check_output_path("--csv", args.csv)
    device = cli.set_up_device(args.machine).name
    results: dict[SystemName, list[AgentResult]] = {}
    code = 0
    try:
        for name, row in graded_agents(args):
            results.setdefault(name, []).append(row)
    except KeyboardInterrupt:
        if not results:
            raise
        code = 130
    if args.json:
        print(as_json(args, device, results))
    else:
        print(f"jax_ttt {__version__} on {device}\n\n{comparison_table(results)}")
    if args.csv:
        table_rows = [
            {"preset": name, **agent_groups.csv_row(row)}
            for name, rows in results.items()
            for row in rows
        ]
        atomic_files.write_csv(args.csv, table_rows)
        size = count_phrase(len(table_rows), "row")
        standard_streams.print_written(args.csv, size, as_json=args.json)
    return code


def graded_agents(args: Args) -> Iterator[tuple[SystemName, AgentResult]]:
    """Train an agent of each system and seed, and yield its grades."""
    seeds = range(args.first_seed, args.first_seed + args.num_seeds)
    runs = [(name, seed) for name in dict.fromkeys(args.only) for seed in seeds]
    blocks = many_agents.train_blocks(
        [many_agents.Job(PRESETS[name], seed) for name, seed in runs]
    )
    rows = (result for block in blocks for result in block.results())
    with Steps(len(runs), "agent") as bar:
        for (name, _), row in zip(runs, rows, strict=True):
            bar.set_description(name)
            bar.update()
            yield name, row


def reproduced(
    name: SystemName, rows: Sequence[AgentResult], source: str
) -> PublishedFigures:
    """Return our figures: mean rates, the range of the wins, and the median time.

    Agents that diverged have no rates.
    """
    graded = [row.grade.rates for row in rows if row.grade is not None]

    def results(seat: Seat) -> str | None:
        if seat not in PRESETS[name].seats or not graded:
            return None
        of_agents = [rates[seat].rates for rates in graded]
        rates = [100 * mean(values) for values in zip(*of_agents, strict=True)]
        wins = [100 * values[0] for values in of_agents]
        return (
            "/".join(f"{rate:.2f}" for rate in rates)
            + f" ({min(wins):.1f} to {max(wins):.1f})"
        )

    return PublishedFigures(
        source=source,
        first=results("first"),
        second=results("second"),
        unbeatable=f"{sum(row.is_proven for row in rows)} of {len(rows)}",
        seconds=f"{median(row.seconds for row in rows):.2f}",
    )


def comparison_table(results: Mapping[SystemName, Sequence[AgentResult]]) -> str:
    """Return the systems one below the other, theirs and ours, and the notes."""
    header = ["wins/draws/losses in %", "as X", "as O", "unbeatable", "seconds"]
    lines = [_cells(header)]
    notes = []
    for name, rows in results.items():
        system, seeds = SYSTEMS[name], count_phrase(len(rows), "seed")
        lines += ["", f"{name}: {system.title}"]
        source = f"reproduced, {seeds}" if system.results else seeds
        for result in (*system.results, reproduced(name, rows, source)):
            lines += _rows(result)
        notes += wrapped_lines(f"{name}: {system.explanation}{_not_proven(rows)}")
    return "\n".join([*lines, "", *notes])


def _not_proven(rows: Sequence[AgentResult]) -> str:
    """Return the seeds of the agents that can be beaten, and of those that diverged."""
    diverged = [row.seed for row in rows if row.diverged]
    beatable = [row.seed for row in rows if not (row.diverged or row.is_proven)]
    seeds_by_result = {"Beatable": beatable, "Diverged": diverged}
    return "".join(
        f" {result} seeds: {', '.join(map(str, seeds))}."
        for result, seeds in seeds_by_result.items()
        if seeds
    )


def _rows(result: PublishedFigures) -> list[str]:
    """Return a line of figures, and one of the ranges in brackets if it has any."""
    cells = (result.first or "").partition(" ("), (result.second or "").partition(" (")
    rates, spans = ([cell[part] for cell in cells] for part in (0, 2))
    others = (result.unbeatable or "", result.seconds or "")
    lines = [_cells([result.source, *rates, *others])]
    if any(spans):
        ranges = (span.removesuffix(")") for span in spans)
        lines.append(_cells(["range of the wins", *ranges, "", ""]))
    return lines


def _cells(row: Sequence[str]) -> str:
    source, *cells = row
    widths = (20, 20, 14, 16)
    padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return (f"  {source:<26}" + "".join(padded)).rstrip()


def as_json(
    args: Args, device: str, results: Mapping[SystemName, Sequence[AgentResult]]
) -> str:
    """Return everything as one JSON object."""
    systems: dict[str, SystemResult] = {
        name: SystemResult(
            title=SYSTEMS[name].title,
            published=SYSTEMS[name].results,
            reproduced=reproduced(name, rows, "reproduced"),
            why=SYSTEMS[name].explanation,
            agents=tuple(rows),
        )
        for name, rows in results.items()
    }
    result = PublishedResult(device=device, first_seed=args.first_seed, systems=systems)
    return json_records.to_json(result)


COMMAND = cli.Command(module="tools.published", args_type=Args, main=main)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
