"""The host-side training loop: chunks of updates, and evaluations between them.

A run is a batch of `S` agents that differ in seeds and hyperparameters; of one agent,
`S` is 1.

Axes: `S` agents (in `solver`, `S` are seats).
"""

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np
from flax import nnx
from jax.sharding import Mesh

from jax_ttt.dqn import metrics as training_metrics
from jax_ttt.dqn.base_learner import Learner
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.grading import counterexamples
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.runtime import distributed
from jax_ttt.runtime import mesh as meshes
from jax_ttt.training import agent_batch, run_state
from jax_ttt.training.run_state import RunState, RunStep

_only_agent = jax.jit(agent_batch.only_agent)


def training_steps(
    learner: Learner,
    state: RunState,
    *,
    stop: Callable[[], bool] = lambda: False,
    prove: Callable[[RunStep], RunStep] | None = None,
    mesh: Mesh | None = None,
) -> Iterator[RunStep]:
    """Train a batch of agents, yielding after each row of metrics and each evaluation.

    Where updates take long, it also yields within a row, about every half second.

    The state is the first one of a run, or a later one, restored or of a step, from
    which the run continues as if it had not been interrupted. On the devices of a mesh,
    the agents are split if there are several, and so are the positions of a search.

    On a CPU, with the same key, machine, versions and number of threads, an agent that
    trains alone has the same bits, also if its run continues. On a GPU, or among
    others, they may differ.

    The agents are evaluated before the first update, every `eval_every` updates and
    after the last, exactly if the game is enumerable. Evaluations draw random numbers
    of their own, so they don't change the training. `prove` may add the results of a
    search to the last evaluation of an agent that trains alone. The run ends early once
    `stop()` is true.

    Raises:
        FloatingPointError: a loss, a gradient or a weight of the one agent is no longer
            finite. Of many, the others continue.
    """
    num_updates, eval_every = learner.config.num_updates, learner.config.eval_every
    agents_mesh = agent_batch.mesh_of_agents(mesh, len(state.keys))
    no_metrics = training_metrics.no_updates((len(state.keys),))
    learner, no_metrics = agent_batch.put_agents_on_devices(
        (learner, no_metrics), agents_mesh
    )
    # Traced here, since concurrent traces don't always give the same program, and a
    # different program is not found in JAX's cache. It is compiled in another thread,
    # while the tree is enumerated and the program of an evaluation compiled.
    program = agent_batch.chunk_program.jitted().lower(
        learner, state.train_state, 1, no_metrics, mesh=agents_mesh
    )
    compiling = ThreadPoolExecutor().submit(program.compile)
    updates = _Updates(learner, no_metrics, agents_mesh, compiling)
    tree = trees.game_tree(learner.config.env_id)
    while True:
        ended = state.update >= num_updates
        # `stop()` waits for the first evaluation: an agent is saved with a grade.
        ended = ended or (state.evaluated >= 0 and stop())
        is_regular = state.update % eval_every == 0
        # An update is evaluated once; the untrained agent, of update 0, is too.
        if state.evaluated < state.update and (is_regular or ended):
            step = _evaluate(learner, state, tree, mesh, stop)
            if not ended:
                updates.prepare(state)
            elif prove is not None:
                step = prove(step)
            state = step.state
            yield step
        elif ended:
            return
        else:
            next_evaluation = state.update - state.update % eval_every + eval_every
            for step in updates.run(state, min(next_evaluation, num_updates), stop):
                state = step.state
                yield step


class _Chunk(NamedTuple):
    """A chunk that was given to the device."""

    train_state: Any  # after it
    metrics: Metrics  # of its row so far
    update: int  # updates done after it
    is_row: bool  # whether it ends a row


class _Updates:
    """Updates of a batch of agents, in chunks whose length follows the clock."""

    def __init__(
        self,
        learner: Learner,
        no_metrics: Metrics,
        mesh: Mesh | None,
        compiling: Future[jax.stages.Compiled],
    ) -> None:
        """Take what is on the devices of the mesh, and the program in compilation."""
        self._learner, self._no_metrics, self._mesh = learner, no_metrics, mesh
        self._compiling = compiling
        self._is_prepared = False
        self._at_most = 1  # updates in a chunk, by the clock

    def prepare(self, state: RunState) -> None:
        """Wait for the program, and call it twice without an update.

        Two calls are in flight during the run. So a device that lacks the memory says
        so before a step is written.
        """
        if self._is_prepared:
            return
        self._compiling.result()
        first, metrics = agent_batch.chunk_program(
            self._learner, state.train_state, 0, self._no_metrics, mesh=self._mesh
        )
        second = agent_batch.chunk_program(
            self._learner, first, 0, metrics, mesh=self._mesh
        )
        jax.block_until_ready((first, second))
        self._is_prepared = True

    def run(
        self, state: RunState, end: int, stop: Callable[[], bool]
    ) -> Iterator[RunStep]:
        """Train up to an update, yielding at the ends of rows and every half second.

        Once `stop()` is true, it yields the chunk that ends next, and returns.

        Raises:
            FloatingPointError: a value of the one agent is no longer finite.
        """
        self.prepare(state)
        newest = _Chunk(
            state.train_state,
            metrics=agent_batch.put_agents_on_devices(state.metrics, self._mesh),
            update=state.update,
            is_row=False,
        )
        in_flight: deque[_Chunk] = deque()
        begin, waited = time.perf_counter(), 0.0
        while in_flight or newest.update < end:
            # Two chunks at most are in flight, so that the device does not wait while
            # the host reads and writes the metrics of the first.
            while len(in_flight) < 2 and newest.update < end:
                newest = self._next_chunk(newest)
                in_flight.append(newest)
            chunk = in_flight.popleft()
            metrics = jax.device_get(meshes.gather_arrays(chunk.metrics))
            begin, seconds = time.perf_counter(), time.perf_counter() - begin
            # The clocks of several processes differ, but all must do the same.
            slowest = distributed.max_over_processes(round(1000 * seconds)) / 1000
            self._at_most = agent_batch.updates_in_time(
                chunk.update - state.update, slowest
            )
            waited += slowest
            state = run_state.after_chunk(
                state, chunk.train_state, metrics, chunk.update, seconds, chunk.is_row
            )
            weights = agent_batch.agent_weights(
                self._learner, chunk.train_state, self._mesh
            )
            step = RunStep(state, metrics, None, chunk.is_row, weights)
            if len(state.keys) == 1 and state.diverged.any():
                raise FloatingPointError(run_state.divergence_message(step))
            if chunk.is_row or waited > agent_batch.CALL_SECONDS or stop():
                waited = 0.0
                yield step
            # The time of whoever reads the steps is not of training, but for the chunk
            # that the device computed meanwhile.
            begin = max(begin, time.perf_counter() - seconds)
            if in_flight and stop():
                return

    def _next_chunk(self, before: _Chunk) -> _Chunk:
        """Give the device the chunk after this one."""
        row_end = agent_batch.row_end(self._learner.config, before.update)
        length = min(self._at_most, row_end - before.update)
        train_state, metrics = agent_batch.chunk_program(
            self._learner,
            before.train_state,
            length,
            self._no_metrics if before.is_row else before.metrics,
            mesh=self._mesh,
        )
        update = before.update + length
        return _Chunk(train_state, metrics, update, is_row=update == row_end)


def _evaluate(
    learner: Learner,
    state: RunState,
    tree: Tree | None,
    mesh: Mesh | None,
    stop: Callable[[], bool],
) -> RunStep:
    """Return an evaluation's step, with counterexamples if the settings say so.

    Their positions are added to the pool of starts, but for those of the untrained
    agent: nearly every position is one. The random numbers follow from the agent's key
    and the update, so that a run that continues draws the same ones.
    """
    config = learner.config
    weights = agent_batch.agent_weights(
        learner, state.train_state, agent_batch.mesh_of_agents(mesh, len(state.keys))
    )
    result = evaluate_on_devices(learner, weights, state.update, state.keys, tree, mesh)
    result = jax.device_get(meshes.gather_arrays(result))
    if config.finds_counterexamples:
        (key,) = state.keys
        rng = np.random.default_rng([*map(int, key), state.update])
        params = _only_agent(weights)
        searched, positions = counterexamples.find_counterexamples(
            config, params, rng, mesh, stop
        )
        result = result._replace(searched=searched)
        if state.update:
            learned = learner.with_positions(state.train_state, positions, rng)
            state = dataclasses.replace(state, train_state=jax.device_put(learned))
    state = dataclasses.replace(state, evaluated=state.updates_done)
    return RunStep(state, None, result, weights=weights)


def evaluate_on_devices(
    learner: Learner,
    weights: nnx.State,
    update: int,
    keys: agent_batch.KeyData,
    tree: Tree | None,
    mesh: Mesh | None = None,
) -> Evaluation:
    """Return the results of the agents' weights that the device computes.

    They are exact if there is a tree; by the settings there is also a match against
    random. Arrays have an axis of agents.
    """
    mesh = agent_batch.mesh_of_agents(mesh, len(keys))
    keys = agent_batch.put_agents_on_devices(keys, mesh)
    return agent_batch.evaluation_program(
        learner.network,
        weights,
        tree,
        update,
        keys,
        num_games=learner.config.num_eval_games(is_exact=tree is not None),
        mesh=mesh,
    )
