"""How a batch of agents runs on the devices: its compiled programs.

A run is always a batch of `S` agents. Each program computes all of them at once, and
the devices of a mesh share them. Seeds and the traced numbers of the settings are
arguments, so runs that differ only in these share compiled programs.

A chunk is the updates in one call of a program. The clock decides how many these are,
since the results don't depend on it. A row of metrics is of one chunk or several.

Axes: `S` agents; `...` are the axes of one agent's array.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import numpy as np
from flax import nnx
from jax.sharding import Mesh
from jaxtyping import Array, Int, PyTree, UInt32

from jax_ttt.config.settings import Config
from jax_ttt.dqn.base_learner import Learner
from jax_ttt.dqn.learner import DQN
from jax_ttt.games.tree import Tree
from jax_ttt.grading import training_evaluation
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.networks.q_network import Network
from jax_ttt.runtime import mesh as meshes
from jax_ttt.runtime.compiling import Program

KeyData: TypeAlias = UInt32[Array, "S words"] | UInt32[np.ndarray, "S words"]
"""The keys of the agents' runs as their data."""
CALL_SECONDS = 0.5
"""About the longest time of a call. Signals are answered between calls."""
_ROW = 50
"""Updates in a row of metrics, unless there would be too many rows."""
_MAX_ROWS = 2000
"""About the most rows of a run, besides those at its evaluations."""
_GRADED_AT_ONCE = 64
"""Maximum number of agents of a device that are evaluated at once, since an exact grade
takes 50 MB for each."""


TreeT = TypeVar("TreeT")


class StreamKeys(NamedTuple):
    """The keys of a run's independent random number streams."""

    training: jax.Array
    grading: jax.Array
    opponent: jax.Array


def run_keys(seeds: Sequence[int]) -> UInt32[np.ndarray, "S words"]:
    """Return the keys of the runs with these seeds as their data, 2 words by default.

    They are the data of `jax.random.key(seed)`.
    """
    impl = str(jax.config.jax_default_prng_impl)  # type: ignore[attr-defined]
    return np.array(_key_data(np.array(seeds, np.uint32), impl=impl))


@functools.partial(jax.jit, static_argnames="impl")
def _key_data(seeds: UInt32[Array, " S"], impl: str) -> UInt32[Array, "S words"]:
    make_key = functools.partial(jax.random.key, impl=impl)
    return jax.random.key_data(jax.vmap(make_key)(seeds))


def stream_keys(data: UInt32[Array, " words"]) -> StreamKeys:
    """Return the keys of the streams of the run with this key."""
    return StreamKeys(*jax.random.split(jax.random.wrap_key_data(data), 3))


def only_agent(batch: TreeT) -> TreeT:
    """Return the arrays of a batch of one agent without their axis of agents."""
    return jax.tree.map(lambda leaf: leaf.reshape(leaf.shape[1:]), batch)


def each_agent(
    function: Callable[..., PyTree], at_once: int | None = None
) -> Callable[..., PyTree]:
    """Return a function of a batch of agents, from a function of one agent.

    It is called within a program, with a mesh or None as `mesh`. Its results, and its
    arguments except for what all agents share (see `has_axis`), have an axis of
    agents. With a mesh, each device computes an equal part of the agents, at most
    `at_once` of them at once.

    A device's only agent is computed without `vmap`: on a CPU it is then faster, and
    rounded alike whatever the number of devices.
    """

    def batched(*args: PyTree, mesh: Mesh | None, **static: object) -> PyTree:
        are_own = has_axis(args)
        if mesh is not None:
            return jax.shard_map(
                functools.partial(batched, mesh=None, **static),
                mesh=mesh,
                in_specs=jax.tree.map(meshes.spec_of_agents, are_own),
                out_specs=meshes.spec_of_agents(True),
                check_vma=False,
            )(*args)
        own = jax.tree.map(lambda is_own, x: x if is_own else None, are_own, args)

        def of_agent(own: PyTree) -> PyTree:
            """Return the result of the agent with these parts of the arguments."""
            of_one = jax.tree.map(
                lambda is_own, x, shared: x if is_own else shared, are_own, own, args
            )
            return function(*of_one, **static)

        num_agents = len(jax.tree.leaves(own)[0])
        if num_agents == 1:
            return jax.tree.map(lambda leaf: leaf[None], of_agent(only_agent(own)))
        if at_once is not None and num_agents > at_once:
            return jax.lax.map(of_agent, own, batch_size=at_once)
        return jax.vmap(of_agent)(own)

    batched.__name__ = function.__name__  # the name of the compiled program
    return batched


def mesh_of_agents(mesh: Mesh | None, num_agents: int) -> Mesh | None:
    """Return the mesh whose devices share the agents; None for a single agent."""
    return mesh if num_agents > 1 else None


def put_agents_on_devices(arrays: TreeT, mesh: Mesh | None) -> TreeT:
    """Return the agents' arrays on the devices, and on each device what all share."""
    if mesh is None:
        return jax.device_put(arrays)
    whole, split = meshes.replicated_sharding(mesh), meshes.split_sharding(mesh)
    shardings = jax.tree.map(
        lambda is_own: split if is_own else whole, has_axis(arrays)
    )
    return meshes.put_on_devices(arrays, shardings)


def has_axis(argument: PyTree) -> PyTree:
    """Return whether an argument, or which parts of it, have an axis of agents.

    A learner's opponent and positions, a network, a tree and a number have none.
    """
    if type(argument) is tuple:
        return tuple(map(has_axis, argument))
    if isinstance(argument, Learner):
        # Not values: they must have the structure of a learner.
        return dataclasses.replace(
            argument, config=True, opponent=False, positions=False
        )
    if isinstance(argument, Network | Tree):
        return False
    return not isinstance(argument, int | Array) or np.ndim(argument) > 0


def _start(learner: Learner, key: jax.Array) -> Any:  # noqa: ANN401
    return learner.start(stream_keys(key).training)


def _weights(learner: Learner, state: Any) -> nnx.State:  # noqa: ANN401
    return learner.agent(state).params


def _evaluate(
    network: Network,
    params: nnx.State,
    tree: Tree | None,
    update: Int[Array, ""],
    key: jax.Array,
    num_games: int,
) -> Evaluation:
    exact, sampled = None, None
    if tree is not None:
        exact = training_evaluation.grade_exactly(network, params, tree)
    if num_games:
        match_key = jax.random.fold_in(stream_keys(key).grading, update)
        sampled = training_evaluation.play_random(network, params, match_key, num_games)
    return Evaluation(exact, sampled)


start_program = Program(each_agent(_start), static_argnames=["mesh"], level="0")
"""Program of the state before the first update.

It runs once, so it is compiled without optimizations (`level="0"`).
"""
chunk_program = Program(each_agent(Learner.chunk), static_argnames=["mesh"])
"""Program of a chunk of any number of updates, and of the metrics of its row so far."""
_weights_program = Program(each_agent(_weights), static_argnames=["mesh"], level="0")
evaluation_program = Program(
    each_agent(_evaluate, at_once=_GRADED_AT_ONCE),
    static_argnames=["num_games", "mesh"],
)
"""Program of an evaluation; the games of a match depend on the key and the update."""


def agent_weights(
    learner: Learner,
    train_state: Any,  # noqa: ANN401
    mesh: Mesh | None,
) -> nnx.State:
    """Return the weights of the agents that a learner has made so far."""
    if type(learner).policy is DQN.policy:
        return train_state.average_params  # without a copy
    return _weights_program(learner, train_state, mesh=mesh)


def row_end(config: Config, update: int) -> int:
    """Return the update that ends the row of metrics of the update after `update`.

    Rows begin anew at each evaluation. The settings alone decide where rows end: not
    the clock, and not an interruption.
    """
    num_updates, every = config.num_updates, config.eval_every
    length = _ROW * -(-num_updates // (_ROW * _MAX_ROWS))
    since = update % every
    return min(update + min(length - since % length, every - since), num_updates)


def updates_in_time(num_updates: int, seconds: float) -> int:
    """Return how many updates a call may do, by the time that the last one took."""
    return max(1, int(CALL_SECONDS * num_updates / max(seconds, 1e-3)))
