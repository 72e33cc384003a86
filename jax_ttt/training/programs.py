"""The three programs of a run: its start, its updates, its grading.

Each serves one agent or, vmapped, many. Seeds and the settings of `settings.DATA` are
data, so that runs which differ in nothing else share the programs.

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

from jax_ttt.config.settings import Config, split
from jax_ttt.dqn import learner
from jax_ttt.dqn.learner import Metrics, TrainState
from jax_ttt.dqn.opponents import Opponent
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.players.network import Network

Numbers = dict[str, Any]
"""The settings of `settings.DATA`: float32, `(S,)`."""


def divided(config: Config) -> tuple[Config, Numbers]:
    """Return what a run's programs are compiled for, and what they take as data."""
    outline, numbers = split(config)
    return outline, {name: np.float32(number) for name, number in numbers.items()}


class Keys(NamedTuple):
    """A run's streams of random numbers, independent of each other."""

    training: jax.Array
    grading: jax.Array
    opponent: jax.Array


def keys(key: Key[Array, ""]) -> Keys:
    """Return the streams of the run with this key, which is consumed."""
    return Keys(*jax.random.split(key, 3))


def start(
    config: Config, key: Key[Array, ""], opponent: Opponent, network: Network
) -> TrainState:
    """Return a run's state before its first update."""
    return learner.init(config, network, keys(key).training, opponent)


def updates(
    config: Config,
    num_updates: int,
    state: TrainState,
    opponent: Opponent,
    numbers: Numbers,
    network: Network,
) -> tuple[TrainState, Metrics]:
    """Return the state after some updates, and their metrics; `state` is used up."""
    return learner.train_chunk(config, network, state, num_updates, opponent, numbers)


def grade(
    config: Config,
    params: nnx.State,
    update: jax.Array,
    key: Key[Array, ""],
    network: Network,
    tree: Tree | None,
) -> Evaluation:
    """Grade a run's agent, with random numbers of its own at each update."""
    del config  # the network's
    match_key = jax.random.fold_in(keys(key).grading, update)
    return evaluation.evaluate(network, params, match_key, tree)


_AXES = {
    start: (0, 0, None),
    updates: (0, 0, 0, None),
    grade: (0, 0, 0, None, None),
}
"""Which arguments have the axis S where there are many agents."""


class Programs:
    """The programs of the runs with these settings, of one agent or of `many` at once.

    Each is compiled once in a process, when it is first called or ahead by `prepare`.
    """

    def __init__(self, network: Network, many: bool = False) -> None:
        self._network, self._config, self._many = network, network.config, many

    def start(self, key: jax.Array, opponent: Opponent) -> TrainState:
        """See `start`."""
        args = (key, opponent, self._network)
        return self._program(start, (), *args)(*args)

    def updates(
        self,
        num_updates: int,
        state: TrainState,
        opponent: Opponent,
        numbers: Numbers,
    ) -> tuple[TrainState, Metrics]:
        """See `updates`."""
        args = (state, opponent, numbers, self._network)
        return self._program(updates, (num_updates,), *args)(*args)

    def grade(
        self, params: nnx.State, update: jax.Array, key: jax.Array, tree: Tree | None
    ) -> Evaluation:
        """See `grade`."""
        args = (params, update, key, self._network, tree)
        return self._program(grade, (), *args)(*args)

    def prepare(
        self,
        lengths: Iterable[int],
        key: jax.Array,
        opponent: Opponent,
        numbers: Numbers,
        tree: Tree | None,
    ) -> int:
        """Compile all of a run with updates in these lengths, and wait for it.

        They are compiled side by side, as compiling one keeps one core busy. Returns
        the bytes of the device's memory that the largest takes, about.
        """
        first = _body(start, (self._config,), self._many)
        network = self._network
        state = jax.eval_shape(first, key, opponent, network)
        jobs = [
            self._compiling(updates, (length,), state, opponent, numbers, network)
            for length in sorted(lengths, reverse=True)
        ]
        graded = (state.params, state.update, key, network, tree)
        jobs.append(self._compiling(grade, (), *graded))
        jobs.append(self._compiling(start, (), key, opponent, network))
        return max(_bytes(job.result()) for job in jobs)

    def _program(self, *key: Any) -> jax.stages.Compiled:  # noqa: ANN401
        return self._compiling(*key).result()

    def _compiling(
        self,
        function: Callable,
        static: tuple[int, ...],
        *args: Any,  # noqa: ANN401
    ) -> Future[jax.stages.Compiled]:
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), args)
        leaves, structure = jax.tree.flatten(shapes)
        fixed = (self._config, *static)
        return _compiling(function, fixed, self._many, structure, tuple(leaves))


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
    donated = (0,) if function is updates else ()
    body = jax.jit(_body(function, static, many), donate_argnums=donated)
    # Traced here, not in the pool: two that trace at once don't always give the same
    # program, and one that differs is not found in the cache.
    return _pool().submit(body.lower(*args).compile)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="compile")
