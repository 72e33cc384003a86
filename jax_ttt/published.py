"""Train the published systems again, and set what each is worth beside its figures.

python -m jax_ttt.published
"""

import csv
import dataclasses
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import tyro
from tqdm import tqdm

from jax_ttt import __version__, cli
from jax_ttt.config import LEARNED
from jax_ttt.presets import PRESETS, Preset
from jax_ttt.ranges import SEED_RANGE, Range
from jax_ttt.systems import SYSTEMS, Result

_SEATS = ("as_first", "as_second")
_RATES = ("win_rate", "draw_rate", "loss_rate")
_NUM_SEEDS = Range(int, 1, 100_000)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args(cli.Machine):
    """Train the published systems again, prove what each is worth, and compare.

    Every figure of ours is exact. Exit codes: 0 done, 1 failed, 2 bad flags,
    130 Ctrl-C (what is finished is printed).
    """

    only: tuple[Preset, ...] = tuple(SYSTEMS)
    """The systems to train, by their presets."""
    num_seeds: int = 20
    """Agents to train of each system. 1 to 100,000."""
    first_seed: int = 1000
    """The first of their seeds, which follow each other."""
    csv: Path | None = None
    """Write a row for each agent."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object in place of the table."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "published")
    _NUM_SEEDS.check("num_seeds", args.num_seeds)
    SEED_RANGE.check("first_seed", args.first_seed)
    SEED_RANGE.check("first_seed", args.first_seed + args.num_seeds - 1)
    cli.check_output("--csv", args.csv)
    only = tuple(dict.fromkeys(args.only))
    args = dataclasses.replace(args, only=only)
    with cli.interruptible() as signals:
        device = cli.set_up(args)
        found: dict[Preset, list[dict[str, Any]]] = {name: [] for name in args.only}
        for name, row in agents(args, signals):
            found[name].append(row)
        found = {name: rows for name, rows in found.items() if rows}
        if args.json:
            print(json.dumps(as_dict(args, device, found)))
        else:
            print(f"jax_ttt {__version__} on {device}\n\n{table(found)}")
        if args.csv and found:
            write_csv(args.csv, found)
        return cli.interrupted(signals[0]) if signals else 0


def agents(args: Args, signals: list[int]) -> Iterator[tuple[Preset, dict[str, Any]]]:
    """Train every agent that is asked for, until a signal comes; yield its grades."""
    from jax_ttt import evaluation, training
    from jax_ttt import tree as trees

    jobs: list[tuple[Preset, int]] = [
        (name, args.first_seed + i) for name in args.only for i in range(args.num_seeds)
    ]
    bar = tqdm(jobs, unit="agent", disable=not sys.stderr.isatty())
    for name, seed in bar:
        bar.set_description(name)
        settings = PRESETS[name]
        # Graded before the first update and after the last one only.
        config = dataclasses.replace(
            settings, eval_games=0, eval_every=settings.num_updates
        )
        tree = trees.of(config.env_id)
        *_, last = training.train(config, seed, tree, lambda: bool(signals))
        if signals:
            return
        assert last.evaluation is not None  # a run ends with one
        exact = evaluation.summary(config, last.evaluation)["exact"]
        about = {"seed": seed, "seconds": last.seconds, "games": last.games}
        yield name, about | exact


def redone(name: Preset, rows: list[dict[str, Any]], source: str) -> Result:
    """Return our figures: mean rates, the range of the wins, and the median time."""
    learned = LEARNED[PRESETS[name].seat]

    def seat(name: str) -> str | None:
        if name not in learned:
            return None
        rates = [100 * mean(row[name][rate] for row in rows) for rate in _RATES]
        wins = [100 * row[name]["win_rate"] for row in rows]
        return (
            "/".join(f"{rate:.2f}" for rate in rates)
            + f" ({min(wins):.1f} to {max(wins):.1f})"
        )

    proven = sum(row["unbeatable"] for row in rows)
    seconds = f"{median(row['seconds'] for row in rows):.2f}"
    as_first, as_second = map(seat, _SEATS)
    return Result(source, as_first, as_second, f"{proven} of {len(rows)}", seconds)


def table(found: dict[Preset, list[dict[str, Any]]]) -> str:
    """Return the systems one below the other, theirs and ours, and the footnotes."""
    lines = [_cells("wins/ties/losses in %", "as X", "as O", "unbeatable", "seconds")]
    notes = []
    for number, (name, rows) in enumerate(found.items(), start=1):
        system, seeds = SYSTEMS[name], f"{len(rows)} seed{'s' * (len(rows) > 1)}"
        lines += ["", f"{name} [{number}]: {system.title}"]
        ours = redone(name, rows, f"redone, {seeds}" if system.results else seeds)
        for result in (*system.results, ours):
            lines.append(_cells(*(cell or "" for cell in result)))
        note = f"[{number}] {system.why}"
        if failed := [row["seed"] for row in rows if not row["unbeatable"]]:
            note += f" Beatable seeds: {', '.join(map(str, failed))}."
        notes += textwrap.wrap(note, 100, subsequent_indent="    ")
    return "\n".join([*lines, "", *notes])


def _cells(source: str, *cells: str) -> str:
    widths = (32, 32, 12, 15)
    padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return (f"  {source:<22}" + "".join(padded)).rstrip()


def as_dict(
    args: Args, device: str, found: dict[Preset, list[dict[str, Any]]]
) -> dict[str, Any]:
    """Return everything as plain numbers; rates are fractions, 0 to 1."""
    return {
        "device": device,
        "first_seed": args.first_seed,
        "systems": {
            name: {
                "title": SYSTEMS[name].title,
                "published": [result._asdict() for result in SYSTEMS[name].results],
                "redone": redone(name, rows, "redone")._asdict(),
                "why": SYSTEMS[name].why,
                "agents": rows,
            }
            for name, rows in found.items()
        },
    }


def write_csv(path: Path, found: dict[Preset, list[dict[str, Any]]]) -> None:
    """Write a row for each agent; rates are fractions, 0 to 1."""
    rows = [
        {
            "preset": name,
            "seed": row["seed"],
            **{
                f"{seat}_{rate}": row[seat][rate]
                for seat in _SEATS
                for rate in (*_RATES, "worst_loss_rate")
            },
            "unbeatable": row["unbeatable"],
            "games": row["games"],
            "seconds": row["seconds"],
        }
        for name, agents in found.items()
        for row in agents
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["preset"])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main(None))
