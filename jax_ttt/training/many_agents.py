"""The training of many agents, with one row of results for each.

Their runs differ in seeds or settings. On an accelerator, runs that share a program
train at once, by `vmap`. On a CPU they train one after another, so that each agent is
bit for bit equal to the agent of a single run; `vmap` would be only somewhat faster
there.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from jax_ttt.config.settings import Config
from jax_ttt.files.metrics_rows import AgentResult
from jax_ttt.games import tree as trees
from jax_ttt.grading import training_evaluation
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.runtime import devices, distributed
from jax_ttt.runtime import mesh as meshes
from jax_ttt.training import loop
from jax_ttt.training.layout import Layout, run_key
from jax_ttt.training.run_state import RunStep

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
    trains alone is bit for bit equal to the agent of `loop.training_steps`; one that
    trains with others is equal up to rounding.
    """
    jobs = [_without_extra_evaluations(job) for job in jobs]
    for _, jobs_of_program in itertools.groupby(
        jobs, lambda job: job.config.compiled_for
    ):
        group = list(jobs_of_program)
        config = group[0].config
        number = meshes.round_up_for_devices(
            at_once or agents_that_fit(config, mesh), mesh
        )
        if config.finds_counterexamples:
            number = 1  # whatever `at_once` is, as in `agents_that_fit`
        for begin in range(0, len(group), number):
            batch = group[begin : begin + number]
            if number > 1:
                yield from _train_at_once(batch, stop, mesh)
            else:
                yield from _train_alone(batch[0], stop, mesh)
            if stop():
                return


def _without_extra_evaluations(job: Job) -> Job:
    """Return the job with one evaluation at its end, and with no more if it is exact.

    Evaluations that change the training stay.
    """
    config = job.config
    if not config.evaluations_change_training:
        config = config.replace(eval_every=config.run.num_updates)
    if trees.game_tree(config.env_id) is not None:
        config = config.replace(eval_games=0)  # the exact grade is enough
    return job._replace(config=config)


def _train_alone(
    job: Job, stop: Callable[[], bool], mesh: Mesh | None
) -> Iterator[AgentResult]:
    """Yield the agent's row; nothing if the run was stopped before its end."""
    learner, layout = loop.make_learner(job.config, job.seed), Layout(mesh=mesh)
    run = loop.training_steps(learner, run_key(job.seed), stop=stop, layout=layout)
    last = next(run)
    try:
        for last in run:  # noqa: B007
            pass
    except FloatingPointError:
        yield _agent_result(job, last, None)
        return
    evaluation = last.evaluation
    if last.update < job.config.run.num_updates or evaluation is None:
        return
    if job.config.finds_counterexamples and not evaluation.searched:
        return  # a signal ended the search
    yield _agent_result(job, last, evaluation)


def _train_at_once(
    jobs: Sequence[Job], stop: Callable[[], bool], mesh: Mesh | None
) -> Iterator[AgentResult]:
    """Yield the agents' rows; nothing if the run was stopped before its end."""
    # Each device trains equally many agents: copies of the last job fill the places,
    # and their results are dropped.
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
        results = None if last.diverged[i] else graded
        yield _agent_result(job, last, results, index=i, num_at_once=len(jobs))


def _agent_result(
    job: Job,
    last: RunStep,
    results: Evaluation | None,
    index: int | tuple[()] = (),
    num_at_once: int = 1,
) -> AgentResult:
    """Return an agent's row after its last step; `index` is its index among many.

    `results` are None if it diverged.
    """
    grade = None
    if results is not None:
        with contextlib.suppress(FloatingPointError):
            grade = training_evaluation.grade_evaluation(job.config, results)
    counts = last.counts(index, num_at_once)
    return AgentResult(
        **vars(counts), seed=job.seed, diverged=grade is None, grade=grade
    )


def agents_that_fit(
    config: Config, mesh: Mesh | None = None, most: int = MOST_AT_ONCE
) -> int:
    """Return how many agents to train at once on the devices.

    With `start_share` it is 1, since a search looks at one agent. On CPUs it is one for
    each device. On accelerators it is, for each device, the number that half of its
    free memory holds, up to `most`; half, since the memory of an agent is an estimate.
    """
    if config.finds_counterexamples:
        return 1
    if devices.current_device().platform == "cpu":
        return meshes.num_devices(mesh)
    number, free = most, devices.free_bytes()
    if free is not None:
        number = int(min(max(0.5 * free // loop.agent_memory(config), 1), most))
    # The minimum over the processes, whose free memory differs.
    return meshes.num_devices(mesh) * -distributed.max_over_processes(-number)
