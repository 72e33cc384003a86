"""Many agents: runs that differ in their seeds or settings, a row of results for each.

On an accelerator runs of one program train at once, vmapped. On a CPU they train one
after another: at once they are hardly faster (0.80 for 0.88 ms an update, 16 agents on
two cores), and alone each is the agent of a run of its own.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from statistics import mean, median
from typing import Any, NamedTuple

import jax

from jax_ttt.config.catalogue import GAMES
from jax_ttt.config.choices import LEARNED
from jax_ttt.config.settings import Config
from jax_ttt.envs import tree as trees
from jax_ttt.evaluation import evaluation, grades
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.evaluation.statistics import wilson_interval
from jax_ttt.runtime import devices
from jax_ttt.training import loop

MOST = 4096
"""Agents at once, even where more would fit."""


class Job(NamedTuple):
    """A run to do."""

    config: Config
    seed: int


def train(
    jobs: Sequence[Job],
    at_once: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[dict[str, Any]]:
    """Train every agent and grade it at its end, until `stop()`; yield their rows.

    `at_once` train at once; by default what `room` says.

    The rows come in the order of the jobs, rates as fractions, 0 to 1: `seed`, `games`,
    `seconds` of training (those of all agents that train at once, shared evenly),
    `diverged`, and unless it did the grades, as `evaluation.summary` gives them. An
    agent that trains alone is that of `loop.train`, to the bit; one that trains
    beside others is not.
    """
    jobs = [_graded_at_the_end(job) for job in jobs]
    for _, alike in itertools.groupby(jobs, lambda job: job.config.static):
        group = list(alike)
        size = at_once or room(group[0].config)
        for begin in range(0, len(group), size):
            batch = group[begin : begin + size]
            yield from _at_once(batch, stop) if size > 1 else _alone(batch[0], stop)
            if stop():
                return


def _graded_at_the_end(job: Job) -> Job:
    config = job.config.replace(eval_every=job.config.run.num_updates)
    if trees.of(config.env_id) is not None:  # exactly, then
        config = config.replace(eval_games=0)
    return job._replace(config=config)


def _alone(job: Job, stop: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    run = loop.train(*job, trees.of(job.config.env_id), stop)
    last = next(run)
    try:
        for last in run:  # noqa: B007
            pass
    except FloatingPointError:
        yield _row(job, int(last.games), last.seconds, None)
        return
    if last.update == job.config.run.num_updates:
        yield _row(job, int(last.games), last.seconds, last.evaluation)


def _at_once(jobs: Sequence[Job], stop: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    tree = trees.of(jobs[0].config.env_id)
    configs, seeds = [job.config for job in jobs], [job.seed for job in jobs]
    *_, last = loop.train_many(configs, seeds, tree, stop)
    if last.update < configs[0].run.num_updates:
        return
    for i, job in enumerate(jobs):
        graded = jax.tree.map(lambda x, i=i: x[i], last.evaluation)
        graded = None if last.diverged[i] else graded
        yield _row(job, int(last.games[i]), last.seconds / len(jobs), graded)


def _row(
    job: Job, games: int, seconds: float, graded: Evaluation | None
) -> dict[str, Any]:
    row = {"seed": job.seed, "games": games, "seconds": seconds, "diverged": False}
    try:
        if graded is not None:
            return row | evaluation.summary(graded)
    except FloatingPointError:
        pass
    return row | {"diverged": True}


def room(config: Config, most: int = MOST) -> int:
    """Return how many agents to train at once on the device that is in use.

    On a CPU that is 1; else as many as half of its free memory holds, up to `most`.
    """
    device = devices.current()
    if device.platform == "cpu":
        return 1
    stats = device.memory_stats() or {}
    if "bytes_limit" not in stats:
        return most
    free = stats["bytes_limit"] - stats.get("bytes_in_use", 0)
    size = loop.size(config, trees.of(config.env_id))
    return int(min(max(0.5 * free // size, 1), most))


def summary(rows: Sequence[dict[str, Any]], config: Config) -> dict[str, Any]:
    """Return what came of agents with these settings, as plain numbers.

    `proven` of `num_agents` are unbeatable, with the rate's 95 % `interval`; the seeds
    of the others are `not_proven`. Where no tree can be walked these are None. `wins`
    against random are those of each seat that is learned, mean, least and greatest of
    the agents that did not diverge.
    """
    diverged = [row["seed"] for row in rows if row["diverged"]]
    graded = [grades.best_known(row) for row in rows if not row["diverged"]]
    wins = {}
    for name in LEARNED[config.opponent.seat] if graded else ():
        rates = [row[name]["win_rate"] for row in graded]
        wins[name] = {"mean": mean(rates), "min": min(rates), "max": max(rates)}
    found = {
        "num_agents": len(rows),
        "proven": None,
        "interval": None,
        "not_proven": None,
        "diverged": diverged,
        "wins": wins,
        "seconds": median(row["seconds"] for row in rows),
    }
    if not GAMES[config.env_id].enumerable:
        return found
    proven = [grades.is_proven(row) for row in rows]
    return found | {
        "proven": sum(proven),
        "interval": list(wilson_interval(sum(proven), len(rows))),
        "not_proven": [r["seed"] for r, p in zip(rows, proven, strict=True) if not p],
    }


def as_cells(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without levels, for a file of columns."""
    known = grades.best_known(row)
    cells = {name: row[name] for name in ("seed", "games", "seconds", "diverged")}
    for seat in LEARNED["both"]:
        rates = {k: v for k, v in known.get(seat, {}).items() if k.endswith("_rate")}
        cells |= {f"{seat}_{name}": rate for name, rate in rates.items()}
    return cells | {"unbeatable": known.get("unbeatable")}
