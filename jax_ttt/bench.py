"""Measure speed and pass rate.

python -m jax_ttt.bench
"""

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import tyro
from tqdm import tqdm

from jax_ttt import __version__, cli, measures
from jax_ttt.measures import line, spread
from jax_ttt.presets import PRESETS, Preset
from jax_ttt.ranges import SEED_RANGE, SettingError

Part = Literal["updates", "evaluation", "matches", "tabular", "proof", "process"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Measure speed and pass rate, in one process tree on one machine."""

    only: tuple[Part, ...] = get_args(Part)
    """What to measure."""
    presets: tuple[Preset, ...] = ("default",)
    """What to train until proven."""
    num_seeds: int = 64
    """Agents to train for each of the presets."""
    first_seed: int = 1000
    """The first of their seeds, which follow each other."""
    rounds: int = 15
    """How often each speed is measured."""
    quick: tyro.conf.FlagCreatePairsOff[bool] = False
    """Few rounds and seeds: to see that it works."""
    json: Path | None = None
    """File to write the figures to."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "bench")
    SEED_RANGE.check("first_seed", args.first_seed)
    SEED_RANGE.check("first_seed", args.first_seed + max(args.num_seeds, 1) - 1)
    for field in ("num_seeds", "rounds"):
        if getattr(args, field) < 1:
            raise SettingError(field, "at least 1", getattr(args, field))
    if args.quick:
        args = dataclasses.replace(args, num_seeds=min(args.num_seeds, 4), rounds=3)
    device = cli.choose_device("auto")
    print(f"jax_ttt {__version__} on {device}, {versions()}")
    figures: dict[str, Any] = {}
    for part in get_args(Part):
        if part in args.only and part == "proof":
            figures[part] = {name: proof(args, name) for name in args.presets}
        elif part in args.only:
            figures[part] = getattr(measures, part)(args.rounds)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def versions() -> str:
    """Return what the figures were measured with."""
    from importlib.metadata import version

    names = ("jax", "flax", "pgx")
    python = sys.version.split()[0]
    return ", ".join([f"Python {python}", *(f"{n} {version(n)}" for n in names)])


def proof(args: Args, preset: Preset) -> dict[str, Any]:
    """Train many seeds; count the proven, and time each to the proof that stays."""
    rows = []
    seeds = range(args.first_seed, args.first_seed + args.num_seeds)
    bar = tqdm(seeds, desc=preset, unit="agent", disable=not sys.stderr.isatty())
    for seed in bar:
        rows.append(proven_when(preset, seed))
    wins = [100 * row["win_rate"] for row in rows]
    failed = [row["seed"] for row in rows if row["kept"] is None]
    kept = [row for row in rows if row["kept"] is not None]
    print(
        f"{preset}: {len(kept)} of {len(rows)} seeds ({seeds[0]} to {seeds[-1]}) "
        f"proven unbeatable; not proven: {', '.join(map(str, failed)) or 'none'}"
    )
    figures: dict[str, Any] = {"agents": rows, "wins": spread(wins)}
    line(f"{preset}, mean wins v random", figures["wins"], "%", 3)
    print(f"{preset}, mean wins at least 95.29 %: {sum(w >= 95.29 for w in wins)}")
    for name, unit, digits in (("seconds", "s", 2), ("kept", "updates", 0)):
        if kept:
            figures[name] = spread([row[name] for row in kept])
            text = f"{preset}, until proven for good"
            line(text, figures[name], unit, digits)
    figures["total_seconds"] = spread([row["total_seconds"] for row in rows])
    line(f"{preset}, all updates", figures["total_seconds"], "s")
    return figures


def proven_when(preset: Preset, seed: int) -> dict[str, Any]:
    """Train one agent; return when its last proof began and how it ended.

    `kept` is the update from which every evaluation proves it, None if the last does
    not; `seconds` are spent training until then.
    """
    row: dict[str, Any] = {"seed": seed, "kept": None, "seconds": None}
    for progress, exact in evaluations(preset, seed):
        if not exact["unbeatable"]:
            row |= {"kept": None, "seconds": None}
        elif row["kept"] is None:
            row |= {"kept": progress.update, "seconds": progress.seconds}
        row |= {"win_rate": exact["win_rate"], "total_seconds": progress.seconds}
    return row


def evaluations(preset: Preset, seed: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Train one agent, yielding its exact evaluations."""
    from jax_ttt import tree as trees
    from jax_ttt.evaluation import summary
    from jax_ttt.training import train

    config = dataclasses.replace(PRESETS[preset], eval_games=0)
    for progress in train(config, seed, trees.of(config.env_id)):
        if progress.evaluation is not None:
            yield progress, summary(config, progress.evaluation)["exact"]


if __name__ == "__main__":
    sys.exit(main(None))
