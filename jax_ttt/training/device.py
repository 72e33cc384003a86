"""What a run computes on its devices: the programs of its start, updates and grades.

Each serves one agent, or many at once, vmapped. Seeds and the numbers of `Hyper` are
data, so runs that differ only in these share programs.

Axes: `S` agents; the axis is absent for a single agent.
"""

import dataclasses
from typing import NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh
from jaxtyping import Array, Int, UInt32

from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.games.tree import Tree
from jax_ttt.grading import evaluation
from jax_ttt.grading.evaluation import Exact
from jax_ttt.grading.match import MatchCounts
from jax_ttt.networks.q_network import Network
from jax_ttt.runtime import mesh as meshes
from jax_ttt.runtime.compiling import Program

KeyData: TypeAlias = UInt32[Array, "..."] | UInt32[np.ndarray, "..."]
"""A run's key as its data, `(S, 2)`."""


class Keys(NamedTuple):
    """The keys of a run's independent random number streams."""

    training: jax.Array
    grading: jax.Array
    opponent: jax.Array


def keys(data: KeyData) -> Keys:
    """Return the keys of the streams of the run with this key."""
    return Keys(*jax.random.split(jax.random.wrap_key_data(jnp.asarray(data)), 3))


_Results = TypeVar("_Results")


@dataclasses.dataclass(frozen=True)
class Layout:
    """How many agents train at once, and on which devices.

    Many agents are split by the agents; one is split by its games and past moves. All
    else is the same on each device. Without a mesh there is one device, and each method
    returns what it is given.
    """

    many: bool = False
    mesh: Mesh | None = None

    def put_learner(self, learner: Learner, key: KeyData) -> tuple[Learner, KeyData]:
        """Return the learner and the run's key on the devices."""
        if self.mesh is None:
            return learner, key
        whole = meshes.whole(self.mesh)
        agents = meshes.split(self.mesh) if self.many else whole
        learner = dataclasses.replace(
            learner,
            hyper=meshes.put(learner.hyper, agents),
            opponent=meshes.put(learner.opponent, agents),
            positions=meshes.put(learner.positions, whole),
        )
        return learner, meshes.put(key, agents)

    def put_state(self, state: TrainState) -> TrainState:
        """Return the state on the devices; what is there is not copied."""
        if self.mesh is None:
            return state
        return meshes.put(state, self._shardings(state, self.mesh))

    def placed_shapes(self, shapes: TrainState) -> TrainState:
        """Return the shapes of a state's leaves, with their shardings."""
        if self.mesh is None:
            return jax.tree.map(
                lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), shapes
            )
        return jax.tree.map(
            lambda x, sharding: jax.ShapeDtypeStruct(
                x.shape, x.dtype, sharding=sharding
            ),
            shapes,
            self._shardings(shapes, self.mesh),
        )

    def constrain(self, state: TrainState) -> TrainState:
        """Return a program's state so that its leaves stay where they are."""
        if self.mesh is None:
            return state
        shardings = self._shardings(state, self.mesh)
        return jax.lax.with_sharding_constraint(state, shardings)

    def replicate(self, results: _Results) -> _Results:
        """Return a program's results, which the host reads, the same on each device."""
        if self.mesh is None:
            return results
        return jax.lax.with_sharding_constraint(results, meshes.whole(self.mesh))

    def _shardings(self, state: TrainState, mesh: Mesh) -> TrainState:
        """Return the sharding of each leaf of a state."""
        split, whole = meshes.split(mesh), meshes.whole(mesh)
        if self.many:
            return jax.tree.map(lambda _: split, state)
        shardings = jax.tree.map(lambda _: whole, state)
        shardings = dataclasses.replace(
            shardings, env_state=jax.tree.map(lambda _: split, state.env_state)
        )
        if state.buffer is None:
            return shardings
        moves = jax.tree.map(lambda _: split, state.buffer.moves)
        buffer = shardings.buffer._replace(moves=moves)
        return dataclasses.replace(shardings, buffer=buffer)


def _start(learner: Learner, key: KeyData, layout: Layout) -> TrainState:
    def start(learner: Learner, key: KeyData) -> TrainState:
        return learner.init(keys(key).training)

    if layout.many:
        start = jax.vmap(start, in_axes=(learner.axes, 0))
    return layout.constrain(start(learner, key))


def _advance(
    learner: Learner, state: TrainState, num_updates: int, layout: Layout
) -> tuple[TrainState, Metrics]:
    def chunk(learner: Learner, state: TrainState) -> tuple[TrainState, Metrics]:
        return learner.chunk(state, num_updates)

    if layout.many:
        chunk = jax.vmap(chunk, in_axes=(learner.axes, 0))
    state, metrics = chunk(learner, state)
    return layout.constrain(state), layout.replicate(metrics)


def _grade(
    network: Network,
    params: nnx.State,
    tree: Tree,
    layout: Layout,
) -> Exact:
    def grade(params: nnx.State) -> Exact:
        return evaluation.grade_exactly(network, params, tree)

    if layout.many:
        grade = jax.vmap(grade)
    return layout.replicate(grade(params))


def _sample(
    network: Network,
    params: nnx.State,
    update: Int[Array, "*S"],
    key: KeyData,
    num_games: int,
    layout: Layout,
) -> MatchCounts:
    def sample(params: nnx.State, update: Int[Array, ""], key: KeyData) -> MatchCounts:
        match_key = jax.random.fold_in(keys(key).grading, update)
        return evaluation.play_random(network, params, match_key, num_games)

    if layout.many:
        sample = jax.vmap(sample)
    return layout.replicate(sample(params, update, key))


start = Program(_start, static_argnames=["layout"], level="0")
"""Program of the state before the first update.

`learner`, the run's key as its data, and the layout.
"""
advance = Program(
    _advance, static_argnames=["num_updates", "layout"], donate_argnames=["state"]
)
"""Program of updates and their metrics; it takes the memory of `state`."""
grade = Program(_grade, static_argnames=["layout"])
"""Program of the exact results of agents."""
sample = Program(_sample, static_argnames=["num_games", "layout"])
"""Program of a match against random; each update has different games."""
