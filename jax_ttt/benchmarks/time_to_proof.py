"""How long it takes to train an agent that is proven unbeatable, and how surely."""

import dataclasses
import itertools
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tqdm import tqdm

from jax_ttt.benchmarks.timing import Figures, Timed, show
from jax_ttt.config.choices import LEARNED
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config
from jax_ttt.envs import tree as trees
from jax_ttt.evaluation.evaluation import summary
from jax_ttt.evaluation.statistics import wilson_interval
from jax_ttt.training.loop import train

EVAL_EVERY = 25
"""Updates between the evaluations that say when an agent is proven."""


class Spent(NamedTuple):
    """What training has cost so far, without evaluating and compiling."""

    seconds: float
    cpu_seconds: float
    updates: int
    games: int  # ended


def proof(presets: Sequence[Preset], seeds: range) -> Figures:
    """Train an agent of each seed for each preset; return when each was proven."""
    return {name: of_preset(name, seeds) for name in presets}


def of_preset(preset: Preset, seeds: range) -> Figures:
    """Train an agent of each seed; print how many were proven, and when."""
    config = dataclasses.replace(PRESETS[preset], eval_games=0, eval_every=EVAL_EVERY)
    for _ in itertools.islice(evaluations(config, seeds[0]), 2):
        pass  # compiles
    bar = tqdm(seeds, desc=preset, unit="agent", disable=not sys.stderr.isatty())
    rows = [proven_when(seed, evaluations(config, seed)) for seed in bar]
    end = f"all {config.num_updates:,} updates"
    return show_agents(preset, rows, end, ("updates", "games"))


def show_agents(
    name: str, rows: Sequence[dict[str, Any]], end: str, units: Sequence[str]
) -> Figures:
    """Print and return how many of the learner's agents were proven, and when.

    `end` says what all of the training was; `units` are the fields of `Spent` to count
    the moments of the proofs in.
    """
    figures = pass_rate(name, rows)
    wins = [100 * row["win_rate"] for row in rows]
    figures["wins"] = show(f"{name}, mean wins v random", wins, "%", 3)
    ceiling = sum(rate >= 95.29 for rate in wins)
    print(f"{name}, mean wins at least 95.29 %: {ceiling} of {len(rows)}")
    moments = {"first": "until first proven", "kept": "until it stays proven"}
    for moment, text in (moments | {"end": end}).items():
        spent = [row[moment] for row in rows if row[moment] is not None]
        counted = () if moment == "end" else units
        figures[moment] = show_spent(f"{name}, {text}", spent, counted)
    return figures | {"agents": [as_json(row) for row in rows]}


def as_json(row: dict[str, Any]) -> Figures:
    """Return an agent's row with names in place of tuples."""
    return {k: v._asdict() if isinstance(v, Spent) else v for k, v in row.items()}


def pass_rate(name: str, rows: Sequence[Figures]) -> Figures:
    """Print how many agents ended proven, and which did not."""
    failed = [row["seed"] for row in rows if row["kept"] is None]
    proven = len(rows) - len(failed)
    low, high = (100 * end for end in wilson_interval(proven, len(rows)))
    print(
        f"{name}: {proven} of {len(rows)} seeds ({rows[0]['seed']} to "
        f"{rows[-1]['seed']}) proven unbeatable (95 % interval: {low:.1f} to "
        f"{high:.1f} %); not proven: {', '.join(map(str, failed)) or 'none'}"
    )
    return {"proven": proven, "num_seeds": len(rows), "interval": [low, high]}


def show_spent(text: str, spent: Sequence[Spent], units: Sequence[str]) -> Figures:
    """Print and return what agents cost, and after how many of each of the units."""
    if not spent:
        return {}
    timed = Timed(0.0, [s.seconds for s in spent], [s.cpu_seconds for s in spent])
    figures = {"seconds": show(text, timed.wall, "s", 2, timed)}
    for unit in units:
        values = [float(getattr(moment, unit)) for moment in spent]
        figures[unit] = show(text, values, unit, 0)
    return figures


def proven_when(
    seed: int, evaluations: Iterable[tuple[Spent, dict[str, Any]]]
) -> dict[str, Any]:
    """Train one agent; return what it had cost by its proofs, and how it ended.

    `first` is the first evaluation that proves it, None if none does; `kept` the one
    from which all do, None if the last does not.
    """
    row: dict[str, Any] = {"seed": seed, "first": None, "kept": None}
    for spent, exact in evaluations:
        if not exact["unbeatable"]:
            row["kept"] = None
        elif row["kept"] is None:
            row["kept"] = spent
        row["first"] = row["first"] or row["kept"]
        row |= {"end": spent, "win_rate": exact["win_rate"]}
        row |= {f"{seat}_win_rate": exact[seat]["win_rate"] for seat in LEARNED["both"]}
    return row


def evaluations(config: Config, seed: int) -> Iterator[tuple[Spent, dict[str, Any]]]:
    """Train one agent, yielding its exact evaluations and what it has cost by then."""
    steps = train(config, seed, trees.of(config.env_id))
    cpu_seconds = 0.0
    while True:
        begin = time.process_time()
        progress = next(steps, None)
        if progress is None:
            return
        if progress.evaluation is None:
            cpu_seconds += time.process_time() - begin
            continue
        spent = Spent(
            progress.seconds, cpu_seconds, progress.update, int(progress.games)
        )
        yield spent, summary(progress.evaluation)["exact"]
