"""Many agents: runs that differ in seeds or settings, with one row of results each.

On an accelerator, runs that share a program train at once, vmapped. On a CPU they
train one after another, so that each agent is that of a single run. With
`vmap` an update would take 0.165 ms, down from 0.204 (64 agents on two cores).
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from jax_ttt.config.settings import Config
from jax_ttt.files.rows import AgentResult
from jax_ttt.games import tree as trees
from jax_ttt.grading import evaluation
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.runtime import devices, processes
from jax_ttt.runtime import mesh as meshes
from jax_ttt.training import loop
from jax_ttt.training.layout import Layout
from jax_ttt.training.run_state import RunStep, run_key

MOST_AT_ONCE = 4096
"""Most agents that train at once, even if memory allows more."""


class Job(NamedTuple):
    """The settings and the seed of a run."""

    config: Config
    seed: int


def train_jobs(
    jobs: Sequence[Job],
    at_once: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    mesh: Mesh | None = None,
) -> Iterator[AgentResult]:
    """Train and grade one agent per job until `stop()`, yielding a row for each.

    Rows are in the order of the jobs. `at_once` agents train at once, by default as
    many as `agents_that_fit` returns, and share the seconds evenly. An agent that
    trains alone is bit for bit that of `loop.training_steps`; others are not.
    """
    jobs = [_graded_at_the_end(job) for job in jobs]
    for _, alike in itertools.groupby(jobs, lambda job: job.config.compiled_for):
        group = list(alike)
        config = group[0].config
        number = meshes.round_up_for_devices(
            at_once or agents_that_fit(config, mesh), mesh
        )
        if config.finds_counterexamples:
            number = 1  # whatever `at_once` is, as in `agents_that_fit`
        for begin in range(0, len(group), number):
            batch = group[begin : begin + number]
            if number > 1:
                yield from _at_once(batch, stop, mesh)
            else:
                yield from _alone(batch[0], stop, mesh)
            if stop():
                return


def _graded_at_the_end(job: Job) -> Job:
    config = job.config
    if not config.evaluations_change_training:
        config = config.replace(eval_every=config.run.num_updates)
    if trees.game_tree(config.env_id) is not None:
        config = config.replace(eval_games=0)  # the exact grade is enough
    return job._replace(config=config)


def _alone(
    job: Job, stop: Callable[[], bool], mesh: Mesh | None
) -> Iterator[AgentResult]:
    learner, layout = loop.make_learner(job.config, job.seed), Layout(mesh=mesh)
    run = loop.training_steps(learner, run_key(job.seed), stop=stop, layout=layout)
    last = next(run)
    try:
        for last in run:  # noqa: B007
            pass
    except FloatingPointError:
        yield _row(job, last, None)
        return
    evaluation = last.evaluation
    if last.update < job.config.run.num_updates or evaluation is None:
        return
    if job.config.finds_counterexamples and not evaluation.searched:
        return  # a signal ended the search
    yield _row(job, last, evaluation)


def _at_once(
    jobs: Sequence[Job], stop: Callable[[], bool], mesh: Mesh | None
) -> Iterator[AgentResult]:
    # The devices share the agents evenly; results of the last job's copies are left.
    num_copies = meshes.round_up_for_devices(len(jobs), mesh) - len(jobs)
    padded = [*jobs, *[jobs[-1]] * num_copies]
    configs, seeds = [job.config for job in padded], [job.seed for job in padded]
    learner = loop.make_learners(configs, seeds)
    keys = np.stack([run_key(seed) for seed in seeds])
    layout = Layout(many=True, mesh=mesh)
    *_, last = loop.training_steps(learner, keys, stop=stop, layout=layout)
    if last.update < configs[0].run.num_updates:
        return
    for i, job in enumerate(jobs):
        graded = jax.tree.map(lambda x, i=i: x[i], last.evaluation)
        yield _row(job, last, None if last.diverged[i] else graded, i, len(jobs))


def _row(
    job: Job,
    last: RunStep,
    results: Evaluation | None,
    place: int | tuple[()] = (),
    num_at_once: int = 1,
) -> AgentResult:
    """Return an agent's row after its last step; `place` is its index among many."""
    grade = None
    if results is not None:
        with contextlib.suppress(FloatingPointError):
            grade = evaluation.grade_of(job.config, results)
    counts = last.counts(place, num_at_once)
    return AgentResult(
        **vars(counts), seed=job.seed, diverged=grade is None, grade=grade
    )


def agents_that_fit(
    config: Config, mesh: Mesh | None = None, most: int = MOST_AT_ONCE
) -> int:
    """Return how many agents to train at once on the devices.

    It is 1 with `start_share`. Otherwise, on each device, it is 1 on a CPU, else the
    number that half of the free memory holds, up to `most`.
    """
    if config.finds_counterexamples:  # a search is of one agent
        return 1
    if devices.current_device().platform == "cpu":
        return meshes.num_devices(mesh)
    number, free = most, devices.free_bytes()
    if free is not None:
        number = int(min(max(0.5 * free // loop.agent_memory(config), 1), most))
    # The least of the processes, whose free memory differs.
    return meshes.num_devices(mesh) * -processes.max_over_processes(-number)
