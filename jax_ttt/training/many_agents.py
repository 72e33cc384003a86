"""The training of many agents, in blocks that train at once.

On an accelerator, a block has many agents of one program. On a CPU each of its devices
trains one agent at a time, so that an agent is bit for bit the agent of a single run;
many at once would be only somewhat faster there.
"""

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import jax
import msgspec
import numpy as np
from flax import nnx
from jax.sharding import Mesh

from jax_ttt.config.settings import Config
from jax_ttt.dqn.base_learner import static_settings
from jax_ttt.files.metrics_rows import AgentResult, Row
from jax_ttt.players import registry
from jax_ttt.runtime import devices, distributed, standard_streams
from jax_ttt.runtime import mesh as meshes
from jax_ttt.runtime.words import count_phrase
from jax_ttt.training import agent_batch, loop, run_start, run_state
from jax_ttt.training.run_state import RunStep

AT_ONCE = 1024
"""Agents that train at once on an accelerator, unless its memory holds fewer.

Small networks keep it busy from about 256 agents on.
"""


class Job(NamedTuple):
    """The settings and the seed of a run."""

    config: Config
    seed: int


@dataclasses.dataclass
class Block:
    """Agents that trained at once, each with the steps of the whole block."""

    jobs: Sequence[Job]
    steps: list[RunStep] = dataclasses.field(default_factory=list)
    """One for each row, without the learner's arrays except those of the last step."""

    def add(self, step: RunStep) -> None:
        """Add a step; only the latest one keeps the learner's arrays."""
        # Copies of the last job, which only fill the devices, have no share of the
        # seconds.
        counts = jax.tree.map(lambda leaf: leaf[: len(self.jobs)], step.state.counts)
        step = step._replace(state=dataclasses.replace(step.state, counts=counts))
        self.release()
        if self.steps and not self.steps[-1].is_row:
            self.steps.pop()
        self.steps.append(step)

    @property
    def update(self) -> int:
        """Updates of each agent so far."""
        return self.steps[-1].update if self.steps else 0

    def release(self) -> None:
        """Give back the memory of the learner's arrays."""
        if self.steps:
            last = self.steps[-1]
            state = dataclasses.replace(last.state, train_state=None)
            self.steps[-1] = last._replace(state=state, weights=None)

    @property
    def is_finished(self) -> bool:
        """Whether the training and its last search were not stopped."""
        if not self.steps:
            return False
        last, config = self.steps[-1], self.jobs[0].config
        if len(self.jobs) == 1 and last.state.diverged.all():
            return True  # its run ended there
        if last.update < config.num_updates or last.evaluation is None:
            return False
        return not config.finds_counterexamples or bool(last.evaluation.searched)

    def diverge(self) -> None:
        """Mark the block's only agent as diverged after its last step."""
        last = self.steps[-1]
        state = dataclasses.replace(last.state, diverged=np.array([True]))
        self.steps[-1] = last._replace(state=state)

    def result(self, index: int) -> AgentResult:
        """Return the result of an agent."""
        last, job = self.steps[-1], self.jobs[index]
        grade = None
        if not last.state.diverged[index] and last.evaluation is not None:
            with contextlib.suppress(FloatingPointError):
                grade = run_state.grade_of(job.config, last.evaluation, index)
        return AgentResult(
            **msgspec.structs.asdict(last.state.counts_of(index)),
            seed=job.seed,
            diverged=grade is None,
            grade=grade,
        )

    def results(self) -> list[AgentResult]:
        """Return the result of each agent, in the order of the jobs."""
        return [self.result(index) for index in range(len(self.jobs))]

    def rows(self, index: int) -> list[Row]:
        """Return the metrics of an agent, a row for each step.

        Raises:
            FloatingPointError: an action value was not finite in an evaluation.
        """
        config = self.jobs[index].config
        rows, grade = [], run_state.initial_grade(config)
        for step in self.steps:
            if step.evaluation is not None:
                grade = run_state.grade_of(config, step.evaluation, index)
            rows.append(run_state.metrics_row(step, grade, index))
        return rows

    def params(self) -> list[nnx.State]:
        """Return the weights of each agent after the last step."""
        # All agents in one copy from the device.
        params = jax.device_get(meshes.gather_arrays(self.steps[-1].weights))
        return [
            jax.device_put(jax.tree.map(lambda leaf, i=index: leaf[i], params))
            for index in range(len(self.jobs))
        ]


def train_blocks(
    jobs: Sequence[Job],
    at_once: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    mesh: Mesh | None = None,
    on_step: Callable[[Block], None] = lambda block: None,
) -> Iterator[Block]:
    """Train an agent for each job, and yield them in blocks, in the order of the jobs.

    A block has `at_once` agents, or fewer if they don't fit into the memory; by default
    see `agents_at_once`. `on_step` is called when a block begins, before its programs
    are compiled, and after each of its steps. Once `stop()` is true, the block in
    training is dropped.

    Raises:
        MemoryError: a single agent does not fit.
    """
    groups = itertools.groupby(jobs, lambda job: static_settings(job.config))
    for _, jobs_of_program in groups:
        left = list(jobs_of_program)
        size = agents_at_once(left[0].config, at_once, mesh)
        while left:
            size = min(size, meshes.round_up_for_devices(len(left), mesh))
            block = Block(left[:size])
            on_step(block)
            try:
                _train(block, stop, mesh, on_step)
            except (MemoryError, RuntimeError) as error:
                block.release()
                is_least = size <= meshes.num_devices(mesh)
                # Of several processes, only this one has failed: the others would wait.
                is_alone = distributed.num_processes() == 1
                if not _is_out_of_memory(error) or is_least or not is_alone:
                    raise
                fewer = meshes.round_up_for_devices(size // 2, mesh)
                agents = count_phrase(size, "agent")
                standard_streams.print_stderr(
                    f"{agents} at once don't fit into the memory: trying {fewer:,}"
                )
                size = fewer
                continue
            if not block.is_finished:
                return
            yield block
            block.release()
            left = left[size:]
            if stop():
                return


def train_agents(
    jobs: Sequence[Job],
    before: Collection[AgentResult] = (),
    at_once: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    mesh: Mesh | None = None,
    on_step: Callable[[Block], None] = lambda block: None,
    progress: bool | None = None,
) -> Iterator[tuple[Block, list[AgentResult]]]:
    """Train as `train_blocks` does behind a bar, and yield each block and its results.

    The bar counts the updates, the finished and the proven agents, to which those that
    were finished `before` belong; see `standard_streams.updates_bar` for `progress`.
    The end says what is lost of a block that was stopped.
    """
    finished, done = len(before), 0  # done: updates of the agents in finished blocks
    proven = sum(result.is_proven for result in before)
    by_file = f" ({proven:,} by its file)" if proven else ""
    num_agents = finished + len(jobs)
    total = sum(job.config.num_updates for job in jobs)
    unfinished: Block | None = None

    def show(block: Block) -> None:
        nonlocal unfinished
        unfinished = block
        standard_streams.show_updates(bar, done + len(block.jobs) * block.update)
        on_step(block)

    with standard_streams.updates_bar(total, progress) as bar:
        bar.set_postfix_str(f"{finished:,} of {num_agents:,} agents{by_file}")
        for block in train_blocks(jobs, at_once, stop, mesh, show):
            unfinished = None
            results = block.results()
            finished += len(results)
            done += sum(result.update for result in results)
            proven += sum(result.is_proven for result in results)
            text = f"{finished:,} of {num_agents:,} agents, {proven:,} proven{by_file}"
            bar.set_postfix_str(text, refresh=False)
            yield block, results
    if unfinished is not None:
        agents = count_phrase(len(unfinished.jobs), "agent")
        standard_streams.print_stderr(
            f"stopped at update {unfinished.update:,}: "
            f"the unfinished training of {agents} is lost"
        )


def _is_out_of_memory(error: MemoryError | RuntimeError) -> bool:
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)


def _train(
    block: Block,
    stop: Callable[[], bool],
    mesh: Mesh | None,
    on_step: Callable[[Block], None],
) -> None:
    """Train the agents of a block, and add its steps to it."""
    # Each device trains equally many agents: copies of the last job fill the places.
    size, jobs = len(block.jobs), block.jobs
    if size > 1:
        size = meshes.round_up_for_devices(size, mesh)
        jobs = [*jobs, *[jobs[-1]] * (size - len(jobs))]
    seeds = [job.seed for job in jobs]
    learner = run_start.make_learner([job.config for job in jobs], seeds)
    steps = loop.training_steps(
        learner,
        # No variable has it: else its memory would be held during the run.
        run_start.first_state(learner, agent_batch.run_keys(seeds), mesh),
        stop=stop,
        mesh=mesh,
    )
    try:
        for step in steps:
            block.add(step)
            on_step(block)
    except FloatingPointError:  # only of an agent that trains alone
        block.diverge()


def agents_at_once(
    config: Config, at_once: int | None = None, mesh: Mesh | None = None
) -> int:
    """Return the number of agents in a block, for all devices together.

    It is 1 if a search looks at each agent, or if each agent's opponent differs. On
    CPUs it is by default one for each device, and `AT_ONCE` on accelerators.
    """
    if config.finds_counterexamples:
        return 1
    opponent = registry.read_opponent(config.opponent)
    if opponent is not None and opponent.draws_before_games:
        return 1
    on_cpu = devices.current_device().platform == "cpu"
    default = (1 if on_cpu else AT_ONCE) * meshes.num_devices(mesh)
    return meshes.round_up_for_devices(at_once or default, mesh)
