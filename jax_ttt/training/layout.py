"""The layout of a run's arrays on its devices, and the keys of its random streams.

Axes: `S` agents; the axis is absent for a single agent.
"""

import dataclasses
from typing import NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, UInt32

from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.runtime import mesh as meshes

KeyData: TypeAlias = UInt32[Array, "..."] | UInt32[np.ndarray, "..."]
"""A run's key as its data, `(S, 2)`."""


class StreamKeys(NamedTuple):
    """The keys of a run's independent random number streams."""

    training: jax.Array
    grading: jax.Array
    opponent: jax.Array


def run_key(seed: int) -> UInt32[np.ndarray, " words"]:
    """Return the key of the run with this seed as its data, 2 words by default."""
    return np.array(jax.random.key_data(jax.random.key(seed)))


def stream_keys(data: KeyData) -> StreamKeys:
    """Return the keys of the streams of the run with this key."""
    return StreamKeys(*jax.random.split(jax.random.wrap_key_data(jnp.asarray(data)), 3))


_Results = TypeVar("_Results")


@dataclasses.dataclass(frozen=True)
class Layout:
    """How many agents train at once, and on which devices.

    If many agents train, each device has some of the agents. If one agent trains, each
    device has some of its games and of its past moves, and copies of everything else.
    Without a mesh there is one device, and each method returns its argument.
    """

    many: bool = False
    mesh: Mesh | None = None

    def put_learner(self, learner: Learner, key: KeyData) -> tuple[Learner, KeyData]:
        """Return the learner and the run's key on the devices."""
        if self.mesh is None:
            return learner, key
        whole = meshes.replicated_sharding(self.mesh)
        agents = meshes.split_sharding(self.mesh) if self.many else whole
        learner = dataclasses.replace(
            learner,
            hyper=meshes.put_on_devices(learner.hyper, agents),
            opponent=meshes.put_on_devices(learner.opponent, agents),
            positions=meshes.put_on_devices(learner.positions, whole),
        )
        return learner, meshes.put_on_devices(key, agents)

    def put_state(self, state: TrainState) -> TrainState:
        """Return the state on the devices; arrays that are there are not copied."""
        if self.mesh is None:
            return state
        return meshes.put_on_devices(state, self._shardings(state, self.mesh))

    def placed_shapes(self, shapes: TrainState) -> TrainState:
        """Return the shapes of a state's leaves with their shardings.

        A program that is compiled for these shapes takes such a state as it is.
        """
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
        """Return a state within a program, so that its leaves keep their shardings."""
        if self.mesh is None:
            return state
        shardings = self._shardings(state, self.mesh)
        return jax.lax.with_sharding_constraint(state, shardings)

    def replicate(self, results: _Results) -> _Results:
        """Return results within a program, so that each device has all of them.

        The host reads them, and the processes of a run go the same way by them.
        """
        if self.mesh is None:
            return results
        return jax.lax.with_sharding_constraint(
            results, meshes.replicated_sharding(self.mesh)
        )

    def _shardings(self, state: TrainState, mesh: Mesh) -> TrainState:
        """Return the sharding of each leaf of a state."""
        split, whole = meshes.split_sharding(mesh), meshes.replicated_sharding(mesh)
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
