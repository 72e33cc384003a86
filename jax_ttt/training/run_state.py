"""The state of a run: everything that a run needs to continue, besides its settings.

First the records and how they change; then the state as saved leaves and back; then the
steps of one agent with their grades; last the message of a run that diverged.

The learner's arrays are on the device. All others are NumPy, since counts need 64 bits,
which JAX's default precision does not have.

Axes: `S` agents that train at once; the axis is absent for a single agent.
"""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jax_ttt.config.settings import Config
from jax_ttt.dqn import start_positions
from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.files.checkpoint import LatestCheckpoint
from jax_ttt.files.metrics_rows import Chunk, Evaluated, Row, TrainingCounts
from jax_ttt.files.tensor_file import AgentError
from jax_ttt.grading import training_evaluation
from jax_ttt.grading.grade import Grade
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.runtime import mesh as meshes
from jax_ttt.runtime import pytrees
from jax_ttt.runtime.words import count_phrase
from jax_ttt.training.layout import Layout

_COUNTS = ("games", "wins", "losses", "env_steps")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RunState:
    """Everything that changes during a run, and the run's key."""

    train_state: TrainState
    key: np.ndarray  # (S, 2) uint32, data of the run's key; never changes
    update: np.int64  # updates so far
    evaluated: np.int64  # the update of the last evaluation; -1 before the first
    games: np.ndarray  # (S,) int64: finished games so far
    wins: np.ndarray  # (S,) int64: of these, won by the agent; in self-play, by first
    losses: np.ndarray  # (S,) int64: of these, lost by the same player
    env_steps: np.ndarray  # (S,) int64: moves so far
    seconds: np.float64  # training all S, excluding compilation and evaluation
    diverged: np.ndarray  # (S,) bool: a loss, gradient or weight was not finite

    @property
    def params(self) -> nnx.State:
        """The agents' parameters."""
        return self.train_state.average_params


class RunStep(NamedTuple):
    """A step of a run: its state after a chunk or after an evaluation.

    After a chunk `evaluation` is None; after an evaluation `metrics` is None. The state
    is valid until the next step, which reuses the memory of its arrays.
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

    def counts(
        self, index: int | tuple[()] = (), num_at_once: int = 1
    ) -> TrainingCounts:
        """Return an agent's counts so far.

        `index` is its index among `num_at_once` agents, which share the seconds evenly;
        `()` stands for a single agent.
        """
        counts = {name: int(getattr(self.state, name)[index]) for name in _COUNTS}
        seconds = round(self.seconds / num_at_once, 4)
        return TrainingCounts(update=self.update, seconds=seconds, **counts)


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


def add_to_pool(
    state: RunState, position_keys: np.ndarray, rng: np.random.Generator
) -> RunState:
    """Return the state with positions, as 64-bit keys, added to its pool of starts.

    If there are more positions than the pool can hold, `rng` draws those that it gets.

    Raises:
        ValueError: the run has no pool.
    """
    if state.train_state.pool is None:
        raise ValueError("the run has no pool")
    pool = start_positions.add_positions(state.train_state.pool, position_keys, rng)
    pool = jax.tree.map(jnp.asarray, pool)
    train_state = dataclasses.replace(state.train_state, pool=pool)
    return dataclasses.replace(state, train_state=train_state)


def copy_to_host(state: RunState) -> dict[str, np.ndarray]:
    """Return copies of all leaves, by name.

    All processes must call it together, since they gather arrays that are split.
    """
    leaves = pytrees.leaves_by_name(meshes.gather_arrays(state))
    return {name: np.array(leaf) for name, leaf in leaves.items()}


def put_state_on_devices(state: RunState, layout: Layout) -> RunState:
    """Return the state with the learner's arrays on the devices.

    Arrays that are there already are not copied.
    """
    train_state = jax.tree.map(
        lambda leaf: leaf if isinstance(leaf, jax.Array) else jnp.array(leaf),
        state.train_state,
    )
    return dataclasses.replace(state, train_state=layout.put_state(train_state))


def restore_state(
    latest: LatestCheckpoint, learner: Learner, key: np.ndarray
) -> RunState:
    """Return the state of a checkpoint.

    Raises:
        AgentError: its leaves do not fit a run with these settings.
    """
    shapes = _state_shapes(learner, key)
    tensors = latest.checkpoint.tensors
    if difference := _difference(shapes, tensors):
        raise AgentError(f"{latest.path}: not a state of such a run: {difference}")
    return pytrees.with_leaves(shapes, tensors)


def _state_shapes(learner: Learner, key: np.ndarray) -> RunState:
    """Return a run's first state with shapes in place of the learner's arrays."""
    shapes = jax.eval_shape(learner.init, jax.random.wrap_key_data(jnp.asarray(key)))
    return initial_state(shapes, key)


def _difference(state: RunState, tensors: dict[str, np.ndarray]) -> str:
    """Return the first difference between a state's leaves and tensors by name.

    Names, dtypes and shapes are compared; the text is empty if they are equal.
    """
    expected = pytrees.leaves_by_name(state)
    for name in sorted(expected.keys() | tensors.keys()):
        if name not in tensors:
            return f"{name} is missing"
        if name not in expected:
            return f"it has no {name}"
        leaf, tensor = expected[name], tensors[name]
        if (leaf.dtype, leaf.shape) != (tensor.dtype, tensor.shape):
            return (
                f"{name} is {tensor.dtype} {tensor.shape}, "
                f"not {leaf.dtype} {leaf.shape}"
            )
    return ""


def initial_grade(config: Config) -> Grade:
    """Return the empty grade that an agent has before its first evaluation."""
    return Grade(env_id=config.env_id, seats=config.seats)


def with_grades(
    config: Config, steps: Iterator[RunStep], grade: Grade
) -> Iterator[tuple[RunStep, Grade]]:
    """Yield the steps of an agent's run, each with the grade of its last evaluation.

    `grade` is the grade before the first step: `initial_grade`, or a checkpoint's.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    for step in steps:
        if step.evaluation is not None:
            grade = training_evaluation.grade_evaluation(config, step.evaluation)
        yield step, grade


def metrics_row(step: RunStep, grade: Grade) -> Row:
    """Return the row of metrics of one agent's step; only an evaluation has a grade."""
    counts = vars(step.counts())
    if (metrics := step.metrics) is None:
        return Evaluated(**counts, grade=grade)
    return Chunk(
        **counts,
        loss=float(metrics.loss),
        grad_norm=float(metrics.grad_norm),
        mean_max_q=float(metrics.mean_max_q),
        epsilon=float(metrics.epsilon),
        learning_rate=float(metrics.learning_rate),
        rows=int(metrics.rows),
    )


def divergence_message(step: RunStep, before: int) -> str:
    """Return when and how an agent's run diverged, and what to do.

    `step` is the chunk in which a value was not finite for the first time; it began
    after `before` updates.
    """
    causes = [*_nonfinite_metric(step, before), *_nonfinite_weights(step)]
    text = "; ".join(causes) or f"a value is not finite by update {step.update:,}"
    return f"training diverged: {text}; try a lower learning rate"


def _nonfinite_metric(step: RunStep, before: int) -> list[str]:
    """Return which loss or gradient of the chunk was not finite first, if any was.

    The exact update is known if the metrics count the finite losses and gradients.
    """
    metrics = step.metrics
    if metrics is None:
        return []
    finite_counts = {"loss": metrics.finite_losses, "gradient": metrics.finite_grads}
    first_updates = {
        name: before + 1 + int(count)
        for name, count in finite_counts.items()
        if count is not None and before + int(count) < step.update
    }
    if first_updates:
        name = min(first_updates, key=lambda name: first_updates[name])
        return [f"the {name} is not finite at update {first_updates[name]:,}"]
    means = {"loss": metrics.loss, "gradient": metrics.grad_norm}
    return [
        f"the {name} is not finite by update {step.update:,}"
        for name, mean in means.items()
        if not np.isfinite(mean)
    ][:1]


def _nonfinite_weights(step: RunStep) -> list[str]:
    """Return which weights are not finite after the chunk, if any."""
    params = pytrees.leaves_by_name(step.state.train_state.params)
    names = [
        name for name, leaf in params.items() if not np.isfinite(np.asarray(leaf)).all()
    ]
    if not names:
        return []
    first, *others = names
    more = f" and {count_phrase(len(others), 'other array')}" if others else ""
    return [f"not finite weights after update {step.update:,}: {first}{more}"]
