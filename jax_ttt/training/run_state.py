"""The state of a run: everything that a run needs to continue, besides its settings.

First the records and how they change; then the state as saved leaves; then the rows of
an agent; last the message of a run that diverged.

The learner's arrays are on the device. All others are NumPy, since counts need 64 bits,
which JAX's default precision does not have.

Axes: `S` agents that train at once.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import msgspec
import numpy as np
from flax import nnx

from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.dqn import metrics as training_metrics
from jax_ttt.dqn.metrics import GameCounts, Metrics
from jax_ttt.files.metrics_rows import Evaluated, Row, Trained, TrainingCounts
from jax_ttt.grading import training_evaluation
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.runtime import pytrees
from jax_ttt.runtime.words import count_phrase


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RunState:
    """Everything that changes during the run of a batch, and the agents' keys."""

    train_state: Any  # the learner's, with an axis of agents
    keys: np.ndarray  # (S, 2) uint32, data of the agents' keys; never changes
    updates_done: np.int64
    evaluated: np.int64  # the update of the last evaluation; -1 before the first
    seconds: np.float64  # training all S, excluding compilation and evaluation
    counts: GameCounts  # (S,) int64 each
    metrics: Metrics  # NumPy, since the last row
    diverged: np.ndarray  # (S,) bool: a loss, gradient or weight was not finite

    @property
    def update(self) -> int:
        """Updates so far."""
        return int(self.updates_done)

    def counts_of(self, index: int = 0) -> TrainingCounts:
        """Return the counts of an agent of the batch; all share the seconds evenly."""
        counts = {name: int(n[index]) for name, n in self.counts._asdict().items()}
        return TrainingCounts(
            update=self.update,
            seconds=round(float(self.seconds) / len(self.counts.games), 4),
            **counts,
        )


class RunStep(NamedTuple):
    """A step of a batch of agents: the state after updates or after an evaluation.

    After updates `evaluation` is None; after an evaluation `metrics` is None. Metrics
    and results have an axis of agents.
    """

    state: RunState
    metrics: Metrics | None
    evaluation: Evaluation | None
    is_row: bool = True
    """Whether it is written: False where `metrics` are of the first part of a row."""
    weights: nnx.State | None = None
    """The agents' weights; None where they are not needed any more."""

    @property
    def update(self) -> int:
        """Updates so far."""
        return self.state.update

    def params(self, index: int = 0) -> nnx.State:
        """Return the parameters of an agent.

        They are cut out on the host, where no program is compiled for each shape.
        """
        params = jax.device_get(self.weights)
        return jax.device_put(jax.tree.map(lambda leaf: leaf[index], params))


def initial_state(
    train_state: Any,  # noqa: ANN401
    keys: np.ndarray,
) -> RunState:
    """Return the state before the first update; `keys` is `(S, 2)` uint32."""
    zeros = np.zeros(len(keys), np.int64)
    return RunState(
        train_state=train_state,
        keys=keys,
        updates_done=np.int64(0),
        evaluated=np.int64(-1),
        seconds=np.float64(0),
        counts=GameCounts(games=zeros, wins=zeros, losses=zeros, env_steps=zeros),
        metrics=training_metrics.no_updates(zeros.shape),
        diverged=np.zeros(len(keys), bool),
    )


def after_chunk(
    state: RunState,
    train_state: Any,  # noqa: ANN401
    metrics: Metrics,
    update: int,
    seconds: float,
    is_row: bool,
) -> RunState:
    """Return the state after a chunk that ends with `update` and took `seconds`.

    `metrics` are those of its row so far; with `is_row`, the row ends here.
    """
    finite = np.isfinite(metrics.loss) & np.isfinite(metrics.grad_norm)
    before = state.metrics
    return dataclasses.replace(
        state,
        train_state=train_state,
        updates_done=np.int64(update),
        seconds=state.seconds + seconds,
        # Differences of int32 are right even if the counts of a long row overflow.
        counts=jax.tree.map(
            lambda total, row, row_before: total + (row - row_before),
            state.counts,
            metrics.counts,
            before.counts,
        ),
        metrics=training_metrics.no_updates(before.loss.shape) if is_row else metrics,
        diverged=state.diverged | ~(finite & metrics.finite_weights),
    )


def copy_to_host(state: RunState) -> dict[str, np.ndarray]:
    """Return copies of all leaves, by name."""
    leaves = pytrees.leaves_by_name(state)
    return {name: np.array(leaf) for name, leaf in leaves.items()}


def initial_grade(config: Config) -> Grade:
    """Return the empty grade that an agent has before its first evaluation."""
    return Grade(env_id=config.env_id, seats=config.seats)


def grade_of(config: Config, evaluation: Evaluation, index: int = 0) -> Grade:
    """Return the grade of an agent of a batch.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    # A search is of an agent that trains alone, so its results have no axis.
    arrays = evaluation._replace(searched=None)
    of_agent = jax.tree.map(lambda leaf: leaf[index], arrays)
    return training_evaluation.grade_evaluation(
        config, of_agent._replace(searched=evaluation.searched)
    )


def metrics_row(step: RunStep, grade: Grade, index: int = 0) -> Row:
    """Return the row of an agent after a step; only an evaluation has its grade."""
    counts = msgspec.structs.asdict(step.state.counts_of(index))
    if (metrics := step.metrics) is None:
        return Evaluated(**counts, grade=grade)
    return Trained(
        **counts,
        loss=float(metrics.loss[index]),
        grad_norm=float(metrics.grad_norm[index]),
        mean_max_q=float(metrics.mean_max_q[index]),
        epsilon=float(metrics.epsilon[index]),
        learning_rate=float(metrics.learning_rate[index]),
        rows=int(metrics.rows[index]),
    )


def divergence_message(step: RunStep) -> str:
    """Return when and how the run of one agent diverged, and what to do.

    `step` is the one in which a value was not finite for the first time.
    """
    causes = [*_nonfinite_metric(step), *_nonfinite_weights(step)]
    text = "; ".join(causes) or f"a value is not finite by update {step.update:,}"
    return f"training diverged: {text}; try a lower learning rate"


def _nonfinite_metric(step: RunStep) -> list[str]:
    """Return which loss or gradient of the step was not finite first, if any was."""
    if step.metrics is None:
        return []
    (losses,), (grads,) = step.metrics.finite_losses, step.metrics.finite_grads
    (updates,) = step.metrics.updates
    if min(losses, grads) == updates:
        return []
    name = "loss" if losses <= grads else "gradient"
    first = step.update - updates + min(losses, grads) + 1
    return [f"the {name} is not finite at update {first:,}"]


def _nonfinite_weights(step: RunStep) -> list[str]:
    """Return which weights are not finite after the step, if any."""
    # A DQN has weights in training besides their average, which is the agent.
    learned = getattr(step.state.train_state, "params", step.weights)
    params = pytrees.leaves_by_name(learned)
    names = [
        name for name, leaf in params.items() if not np.isfinite(np.asarray(leaf)).all()
    ]
    if not names:
        return []
    first, *others = names
    more = f" and {count_phrase(len(others), 'other array')}" if others else ""
    return [f"not finite weights after update {step.update:,}: {first}{more}"]
