"""The three programs of a run: its start, its updates, its grading.

Each serves one agent or, vmapped, many. Seeds and the
numbers of `Hyper` are data, so that runs which differ in nothing else share programs.

Axes: `S` agents; where there is one, the axis is absent.
"""

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Key

from jax_ttt.config.catalogue import Seat
from jax_ttt.config.hyper import Hyper
from jax_ttt.config.settings import Config
from jax_ttt.dqn import learner
from jax_ttt.dqn.learner import Metrics, TrainState
from jax_ttt.envs.opponents import Opponent
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.players.network import Network


def hyper_arrays(config: Config) -> Hyper:
    """Return the numbers of the settings as float32 arrays, data of the programs."""
    return Hyper(*map(np.float32, config.hyper))


class Keys(NamedTuple):
    """A run's streams of random numbers, independent of each other."""

    training: jax.Array
    grading: jax.Array
    opponent: jax.Array


def keys(key: Key[Array, ""]) -> Keys:
    """Return the streams of the run with this key, which is consumed."""
    return Keys(*jax.random.split(key, 3))


def start_run(
    config: Config,
    key: Key[Array, ""],
    hyper: Hyper,
    opponent: Opponent,
    network: Network,
) -> TrainState:
    """Return a run's state before its first update."""
    return learner.init(config, hyper, network, keys(key).training, opponent)


def run_updates(
    config: Config,
    num_updates: int,
    state: TrainState,
    hyper: Hyper,
    opponent: Opponent,
    network: Network,
) -> tuple[TrainState, Metrics]:
    """Return the state after some updates, and their metrics; `state` is used up."""
    return learner.train_chunk(config, hyper, network, state, num_updates, opponent)


def grade_agent(
    seats: tuple[Seat, ...],
    num_games: int,
    params: nnx.State,
    update: jax.Array,
    key: Key[Array, ""],
    network: Network,
    tree: Tree | None,
) -> Evaluation:
    """Grade a run's agent, with random numbers of its own at each update."""
    match_key = jax.random.fold_in(keys(key).grading, update)
    return evaluation.evaluate(network, params, match_key, tree, seats, num_games)


_AXES = {
    start_run: (0, 0, 0, None),
    run_updates: (0, 0, 0, None),
    grade_agent: (0, 0, 0, None, None),
}
"""Which arguments that are data have the axis S where there are many agents."""


class Programs:
    """The programs of the runs with these settings, of one agent or of `many` at once.

    Each is compiled once in a process, when it is first called or ahead by `prepare`.
    """

    def __init__(self, config: Config, network: Network, many: bool = False) -> None:
        self._config, self._network, self._many = config.static, network, many

    def start(self, key: jax.Array, hyper: Hyper, opponent: Opponent) -> TrainState:
        """See `start_run`."""
        args = (key, hyper, opponent, self._network)
        return self._compiling(start_run, (self._config,), *args).result()(*args)

    def updates(
        self, num_updates: int, state: TrainState, hyper: Hyper, opponent: Opponent
    ) -> tuple[TrainState, Metrics]:
        """See `run_updates`."""
        args = (state, hyper, opponent, self._network)
        static = (self._config, num_updates)
        return self._compiling(run_updates, static, *args).result()(*args)

    def grade(
        self, params: nnx.State, update: jax.Array, key: jax.Array, tree: Tree | None
    ) -> Evaluation:
        """See `grade_agent`."""
        args = (params, update, key, self._network, tree)
        return self._compiling(grade_agent, self._grading, *args).result()(*args)

    @property
    def _grading(self) -> tuple[tuple[Seat, ...], int]:
        return self._config.seats, self._config.evaluation.eval_games

    def prepare(
        self,
        lengths: Iterable[int],
        key: jax.Array,
        hyper: Hyper,
        opponent: Opponent,
        tree: Tree | None,
    ) -> int:
        """Compile all of a run with updates in these lengths, and wait for it.

        They are compiled side by side, as compiling one keeps one core busy. Returns
        the bytes of the device's memory that the largest takes, about.
        """
        config, network = self._config, self._network
        first = _body(start_run, (config,), self._many)
        state = jax.eval_shape(first, key, hyper, opponent, network)
        jobs = [
            self._compiling(run_updates, (config, n), state, hyper, opponent, network)
            for n in sorted(lengths, reverse=True)
        ]
        graded = (state.params, state.update, key, network, tree)
        jobs.append(self._compiling(grade_agent, self._grading, *graded))
        jobs.append(
            self._compiling(start_run, (config,), key, hyper, opponent, network)
        )
        return max(_bytes(job.result()) for job in jobs)

    def _compiling(
        self,
        function: Callable,
        static: tuple,
        *args: Any,  # noqa: ANN401
    ) -> Future[jax.stages.Compiled]:
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), args)
        leaves, structure = jax.tree.flatten(shapes)
        return _compiling(function, static, self._many, structure, tuple(leaves))


def _bytes(program: jax.stages.Compiled) -> int:
    used = program.memory_analysis()
    if used is None:
        return 0
    given = used.argument_size_in_bytes + used.output_size_in_bytes
    return given + used.temp_size_in_bytes


def _body(function: Callable, static: tuple, many: bool) -> Callable:
    body = functools.partial(function, *static)
    return jax.vmap(body, in_axes=_AXES[function]) if many else body


@functools.cache
def _compiling(
    function: Callable,
    static: tuple,
    many: bool,
    structure: Any,  # noqa: ANN401
    leaves: tuple[jax.ShapeDtypeStruct, ...],
) -> Future[jax.stages.Compiled]:
    args = jax.tree.unflatten(structure, leaves)
    donated = (0,) if function is run_updates else ()
    body = jax.jit(_body(function, static, many), donate_argnums=donated)
    # Traced here, not in the pool: two that trace at once don't always give the same
    # program, and one that differs is not found in the cache.
    return _pool().submit(body.lower(*args).compile)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="compile")
