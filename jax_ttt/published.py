"""Train the published systems again, and set what each is worth beside its figures.

python -m jax_ttt.published
"""

if __name__ == "__main__":  # before the other imports, which take a moment
    from jax_ttt.runtime import interrupts

    interrupts.leave_on_import()

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Annotated

import tyro

from jax_ttt import __version__, cli
from jax_ttt.config.catalogue import Seat
from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS, SYSTEMS, Preset
from jax_ttt.config.published.records import Result
from jax_ttt.config.ranges import SEED_RANGE, Range, check_seeds
from jax_ttt.results import plain
from jax_ttt.results.aligned import wrapped
from jax_ttt.results.commands import PublishedResult, SystemResult
from jax_ttt.results.counting import counted
from jax_ttt.results.rows import AgentResult
from jax_ttt.runtime import files, streams
from jax_ttt.runtime.interrupts import Signals, interruptible
from jax_ttt.scaling import supervised

_NUM_SEEDS = Range(int, 1, 100_000)
_BEFORE = "interrupted before an agent was finished"
_STOPPING = "stopping after these updates; the finished agents are shown"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(cli.Machine):
    """Reproduce the published systems, and compare the results with the published ones.

    All figures of our agents are exact. An agent that diverges is named, and counts as
    not proven.

    Exit codes: 0 done, 1 failed, 2 bad flags, 130 Ctrl-C and 143 SIGTERM (what is
    finished is printed).
    """

    only: tuple[Preset, ...] = tuple(SYSTEMS)
    """Systems to train, by their presets."""
    num_seeds: Annotated[int, _NUM_SEEDS] = 20
    """Agents to train of each system. 1 to 100,000."""
    first_seed: Annotated[int, SEED_RANGE] = 1000
    """The first seed; the others follow it. 0 to 4,294,967,295."""
    csv: Path | None = None
    """File to write a row for each agent to."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the table."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "published")
    _NUM_SEEDS.check("num_seeds", args.num_seeds)
    check_seeds(args.first_seed, args.num_seeds)
    cli.check_output("--csv", args.csv)
    for name in args.only:
        if name not in SYSTEMS:
            raise SettingError("only", f"one of {', '.join(SYSTEMS)}", name)
    args = dataclasses.replace(args, only=tuple(dict.fromkeys(args.only)))
    with interruptible("interrupted", argv is None, leaves=False) as signals:
        signals.nothing_to_save, signals.first_words = True, _BEFORE
        device = cli.set_up(args, 20)
        if signals:
            return cli.interrupted(signals[0])
        found: dict[Preset, list[AgentResult]] = {name: [] for name in args.only}
        for name, row in graded_agents(args, signals):
            found[name].append(row)
        if signals and not any(found.values()):
            return cli.interrupted(signals[0])
        found = {name: rows for name, rows in found.items() if rows}
        if args.json:
            print(as_json(args, device, found))
        else:
            print(f"jax_ttt {__version__} on {device}\n\n{comparison_table(found)}")
        if args.csv and found:
            from jax_ttt.evaluation import agent_groups

            named = ((name, row) for name, rows in found.items() for row in rows)
            table_rows = [
                {"preset": name, **agent_groups.as_cells(row)} for name, row in named
            ]
            files.write_csv(args.csv, table_rows)
            streams.tell_written(args.csv, counted(len(table_rows), "row"), args.json)
        return cli.interrupted(signals[0]) if signals else 0


def graded_agents(args: Args, signals: Signals) -> Iterator[tuple[Preset, AgentResult]]:
    """Train every agent that is asked for, until a signal comes; yield its grades."""
    from jax_ttt.runtime.compile_events import Bar
    from jax_ttt.training import many_agents

    seeds = range(args.first_seed, args.first_seed + args.num_seeds)
    names: list[Preset] = [name for name in args.only for _ in seeds]
    jobs = [
        many_agents.Job(PRESETS[name], seed) for name in args.only for seed in seeds
    ]
    rows = many_agents.train_jobs(jobs, None, lambda: bool(signals))
    quiet = not sys.stderr.isatty()
    with Bar(total=len(jobs), unit="agent", disable=quiet) as bar:
        for name, row in zip(names, rows, strict=False):
            signals.nothing_to_save, signals.first_words = False, _STOPPING
            bar.set_description(name)
            bar.update()
            yield name, row


def reproduced(name: Preset, rows: list[AgentResult], source: str) -> Result:
    """Return our figures: mean rates, the range of the wins, and the median time.

    The rates are those of the agents that did not diverge.
    """
    graded = [row.exact for row in rows if row.exact is not None]

    def results(seat: Seat) -> str | None:
        if seat not in PRESETS[name].seats or not graded:
            return None
        of_agents = [exact.seat(seat).all_rates for exact in graded]
        rates = [100 * mean(rates) for rates in zip(*of_agents, strict=True)]
        wins = [100 * rates[0] for rates in of_agents]
        return (
            "/".join(f"{rate:.2f}" for rate in rates)
            + f" ({min(wins):.1f} to {max(wins):.1f})"
        )

    proven = f"{sum(row.is_proven for row in rows)} of {len(rows)}"
    seconds = f"{median(row.seconds for row in rows):.2f}"
    return Result(source, results("first"), results("second"), proven, seconds)


def comparison_table(found: dict[Preset, list[AgentResult]]) -> str:
    """Return the systems one below the other, theirs and ours, and the notes."""
    lines = [_cells("wins/draws/losses in %", "as X", "as O", "unbeatable", "seconds")]
    notes = []
    for name, rows in found.items():
        system, seeds = SYSTEMS[name], counted(len(rows), "seed")
        lines += ["", f"{name}: {system.title}"]
        ours = reproduced(
            name, rows, f"reproduced, {seeds}" if system.results else seeds
        )
        for result in (*system.results, ours):
            lines += _rows(result)
        notes += wrapped(f"{name}: {system.why}{_not_proven(rows)}")
    return "\n".join([*lines, "", *notes])


def _not_proven(rows: list[AgentResult]) -> str:
    """Return the seeds of the agents that can be beaten, and of those that diverged."""
    diverged = [row.seed for row in rows if row.diverged]
    beatable = [row.seed for row in rows if not (row.diverged or row.is_proven)]
    named = {"Beatable": beatable, "Diverged": diverged}
    return "".join(
        f" {what} seeds: {', '.join(map(str, seeds))}."
        for what, seeds in named.items()
        if seeds
    )


def _rows(result: Result) -> list[str]:
    """Return a line of figures, and one of the ranges in brackets if it has any."""
    cells = (result.first or "").partition(" ("), (result.second or "").partition(" (")
    rates, spans = ([cell[part] for cell in cells] for part in (0, 2))
    others = (result.unbeatable or "", result.seconds or "")
    lines = [_cells(result.source, *rates, *others)]
    if any(spans):
        ranges = (span.removesuffix(")") for span in spans)
        lines.append(_cells("range of the wins", *ranges, "", ""))
    return lines


def _cells(source: str, *cells: str) -> str:
    widths = (20, 20, 14, 16)
    padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return (f"  {source:<26}" + "".join(padded)).rstrip()


def as_json(args: Args, device: str, found: dict[Preset, list[AgentResult]]) -> str:
    """Return everything as one JSON object."""
    systems: dict[str, SystemResult] = {
        name: SystemResult(
            title=SYSTEMS[name].title,
            published=SYSTEMS[name].results,
            reproduced=reproduced(name, rows, "reproduced"),
            why=SYSTEMS[name].why,
            agents=tuple(rows),
        )
        for name, rows in found.items()
    }
    result = PublishedResult(device=device, first_seed=args.first_seed, systems=systems)
    return json.dumps(plain.to_dict(result))


if __name__ == "__main__":
    supervised.run(main)
