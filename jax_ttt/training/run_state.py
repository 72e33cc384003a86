"""The state of a run: everything that a run needs to continue, besides its settings.

The learner's arrays are on the device. All others are NumPy, since counts need 64 bits.

Axes: `S` agents that train at once; the axis is absent for a single agent.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import UInt32

from jax_ttt.dqn import start_positions
from jax_ttt.dqn.learner import TrainState
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.files.rows import Counts
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.runtime import pytrees
from jax_ttt.scaling import mesh as meshes
from jax_ttt.training.device import Layout

_COUNTS = ("games", "wins", "losses", "env_steps")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RunState:
    """Everything that changes during a run, and the run's key."""

    train_state: TrainState
    key: np.ndarray  # (S, 2) uint32, the run's key, also used by evaluations
    update: np.int64  # updates so far
    evaluated: np.int64  # the update of the last evaluation; -1 before the first
    games: np.ndarray  # (S,) int64, like the next three: finished so far
    wins: np.ndarray  # of the agent against an opponent; in self-play, of the first
    losses: np.ndarray
    env_steps: np.ndarray  # moves so far
    seconds: np.float64  # training all S, excluding compilation and evaluation
    diverged: np.ndarray  # (S,) bool: a loss, gradient or weight was not finite

    @property
    def params(self) -> nnx.State:
        """The agents' parameters."""
        return self.train_state.average_params


class Progress(NamedTuple):
    """A step of a run: its state after a chunk or after an evaluation.

    Either `metrics` or `evaluation` is None. The state is valid until the next step.
    """

    state: RunState
    metrics: Metrics | None
    evaluation: Evaluation | None

    @property
    def params(self) -> nnx.State:
        """The agent's parameters."""
        return self.state.params

    @property
    def update(self) -> int:
        """Updates so far."""
        return int(self.state.update)

    @property
    def games(self) -> np.ndarray:
        """Finished games so far, `(S,)` int64."""
        return self.state.games

    @property
    def seconds(self) -> float:
        """Seconds of training all S, excluding compilation and evaluation."""
        return float(self.state.seconds)

    @property
    def diverged(self) -> np.ndarray:
        """Whether a loss, a gradient or a weight was not finite, `(S,)` bool."""
        return self.state.diverged

    def counts(self, place: int | tuple[()] = (), num_at_once: int = 1) -> Counts:
        """Return an agent's counts so far.

        `place` is its index among `num_at_once` agents, which share the seconds evenly.
        """
        counts = {name: int(getattr(self.state, name)[place]) for name in _COUNTS}
        seconds = round(self.seconds / num_at_once, 4)
        return Counts(update=self.update, seconds=seconds, **counts)


def run_key(seed: int) -> UInt32[np.ndarray, " words"]:
    """Return the key of the run with this seed as its data, 2 words by default."""
    return np.array(jax.random.key_data(jax.random.key(seed)))


def initial_state(train_state: TrainState, key: np.ndarray) -> RunState:
    """Return the state before the first update; `key` is `(S, 2)` uint32."""
    shape = key.shape[:-1]
    return RunState(
        train_state=train_state,
        key=key,
        update=np.int64(0),
        evaluated=np.int64(-1),
        games=np.zeros(shape, np.int64),
        wins=np.zeros(shape, np.int64),
        losses=np.zeros(shape, np.int64),
        env_steps=np.zeros(shape, np.int64),
        seconds=np.float64(0),
        diverged=np.zeros(shape, bool),
    )


def after_chunk(
    state: RunState,
    train_state: TrainState,
    metrics: Metrics,
    num_updates: int,
    seconds: float,
) -> RunState:
    """Return the state after a chunk of `num_updates` that took `seconds`."""
    finite = np.isfinite(metrics.loss) & np.isfinite(metrics.grad_norm)
    if metrics.finite_weights is not None:
        finite &= metrics.finite_weights
    counts = {
        name: np.asarray(getattr(state, name) + getattr(metrics, name))
        for name in _COUNTS
    }
    return dataclasses.replace(
        state,
        train_state=train_state,
        update=state.update + num_updates,
        **counts,
        seconds=state.seconds + seconds,
        diverged=np.asarray(state.diverged | ~finite),
    )


def with_pool(
    state: RunState, numbers: np.ndarray, rng: np.random.Generator
) -> RunState:
    """Return the state whose pool also holds positions, as 64-bit keys.

    If there are more than it holds, `rng` draws those that it gets.

    Raises:
        ValueError: the run has no pool.
    """
    if state.train_state.pool is None:
        raise ValueError("the run has no pool")
    pool = start_positions.with_positions(state.train_state.pool, numbers, rng)
    pool = jax.tree.map(jnp.asarray, pool)
    train_state = dataclasses.replace(state.train_state, pool=pool)
    return dataclasses.replace(state, train_state=train_state)


def on_host(state: RunState) -> dict[str, np.ndarray]:
    """Return copies of all leaves, by name; all processes call it together."""
    named = pytrees.leaves_by_name(meshes.gathered(state))
    return {name: np.array(leaf) for name, leaf in named.items()}


def on_device(state: RunState, layout: Layout) -> RunState:
    """Return the state whose arrays are on the devices; what is there is not copied."""
    train_state = jax.tree.map(
        lambda leaf: leaf if isinstance(leaf, jax.Array) else jnp.array(leaf),
        state.train_state,
    )
    return dataclasses.replace(state, train_state=layout.put_state(train_state))
