"""The state of a run: everything that a run needs to continue, besides its settings.

The learner's arrays are on the device. All others are NumPy, since counts need 64 bits.

Axes: `S` agents that train at once; the axis is absent for a single agent.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.dqn.metrics import Metrics
from jax_ttt.results.rows import Counts
from jax_ttt.runtime import named_arrays
from jax_ttt.runtime.named_arrays import Named
from jax_ttt.scaling import mesh

_COUNTS = ("games", "wins", "losses", "env_steps")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Best:
    """The best evaluation so far, and the parameters at that update."""

    # Any: JAX also builds trees of shapes.
    update: Any  # (S,) int64, updates of the agent at the evaluation
    proven: Any  # (S,) bool: unbeatable in the seats that it learned
    loss_rate: Any  # (S,) float64, as in `evaluation.Criteria`; NaN: not evaluated
    win_rate: Any  # (S,) float64, 0 to 1; NaN if nothing was evaluated
    params: Any  # NumPy arrays by name, since the next chunk donates the learner's


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RunState:
    """Everything that changes during a run, and the run's key."""

    learner: Named  # the leaves of a `learner.TrainState`
    key: Any  # (S, 2) uint32, the run's key, also used by evaluations
    update: Any  # () int64, updates so far
    evaluated: Any  # () int64, the update of the last evaluation; -1 before the first
    games: Any  # (S,) int64, like the next three: finished so far
    wins: Any  # of the agent against an opponent; in self-play, of the first player
    losses: Any
    env_steps: Any  # moves so far
    seconds: Any  # () float64, training all S, excluding compilation and evaluation
    diverged: Any  # (S,) bool: a loss, gradient or weight was not finite
    last: Any  # the last Evaluation, of NumPy arrays; None before the first
    best: Best | None  # None before the first evaluation

    @property
    def params(self) -> Named:
        """The agents' parameters, by name."""
        return named_arrays.part(self.learner, "average_params")


class Progress(NamedTuple):
    """A step of a run: its state after a chunk or after an evaluation.

    Either `metrics` or `evaluation` is None. The state is valid until the next step.
    """

    state: RunState
    metrics: Metrics | None
    evaluation: Any  # Evaluation | None; not imported, which keeps this module low

    @property
    def params(self) -> Named:
        """The agent's parameters, by name."""
        return self.state.params

    @property
    def update(self) -> int:
        """Updates so far."""
        return int(self.state.update)

    @property
    def games(self) -> Any:  # noqa: ANN401
        """Finished games so far, `(S,)` int64."""
        return self.state.games

    @property
    def seconds(self) -> float:
        """Seconds of training all S, excluding compilation and evaluation."""
        return float(self.state.seconds)

    @property
    def diverged(self) -> Any:  # noqa: ANN401
        """Whether a loss, a gradient or a weight was not finite, `(S,)` bool."""
        return self.state.diverged

    def counts(self, place: int | tuple[()] = (), num_at_once: int = 1) -> Counts:
        """Return an agent's counts so far.

        `place` is its index among `num_at_once` agents, which share the seconds evenly.
        """
        counts = {name: int(getattr(self.state, name)[place]) for name in _COUNTS}
        seconds = round(self.seconds / num_at_once, 4)
        return Counts(update=self.update, seconds=seconds, **counts)


def fresh(learner: Named, key: np.ndarray) -> RunState:
    """Return the state before the first update; `key` is `(S, 2)` uint32."""
    shape = key.shape[:-1]
    return RunState(
        learner=learner,
        key=key,
        update=np.int64(0),
        evaluated=np.int64(-1),
        **dict.fromkeys(_COUNTS, np.zeros(shape, np.int64)),
        seconds=np.float64(0),
        diverged=np.zeros(shape, bool),
        last=None,
        best=None,
    )


def after_chunk(
    state: RunState,
    learner: Named,
    metrics: Metrics,
    num_updates: int,
    seconds: float,
) -> RunState:
    """Return the state after a chunk of `num_updates` that took `seconds`."""
    finite = np.isfinite(metrics.loss) & np.isfinite(metrics.grad_norm)
    if metrics.finite_weights is not None:
        finite &= metrics.finite_weights
    return dataclasses.replace(
        state,
        learner=learner,
        update=state.update + num_updates,
        **{name: getattr(state, name) + getattr(metrics, name) for name in _COUNTS},
        seconds=state.seconds + seconds,
        diverged=state.diverged | ~finite,
    )


def after_evaluation(
    state: RunState,
    result: Any,  # noqa: ANN401  as `RunState.last`
    proven: np.ndarray,
    loss_rate: np.ndarray,
    win_rate: np.ndarray,
) -> RunState:
    """Return the state after an evaluation with this result and these criteria.

    The criteria are `(S,)` each. The parameters are copied only if an agent improved.
    """
    shape = np.shape(state.games)
    params, old = mesh.gathered(state.params), state.best
    rows = (state.update, proven, loss_rate, win_rate)
    new = Best(*(np.broadcast_to(row, shape) for row in rows), params=params)
    ahead = np.ones(shape, bool) if old is None else better(new, old)
    if old is not None and not ahead.any():
        best = old
    elif old is None or ahead.all():
        best = dataclasses.replace(new, params=jax.tree.map(np.array, params))
    else:
        best = jax.tree.map(lambda a, b: _chosen(ahead, a, b), new, old)
    evaluated = state.update
    return dataclasses.replace(state, evaluated=evaluated, last=result, best=best)


def with_pool(
    state: RunState, numbers: np.ndarray, rng: np.random.Generator
) -> RunState:
    """Return the state whose learner's pool also holds positions, as 64-bit keys.

    If there are more than it holds, `rng` draws those that it gets.
    """
    from jax_ttt.dqn import start_positions

    pool = start_positions.Pool(**named_arrays.part(state.learner, "pool"))
    pool = start_positions.with_positions(pool, numbers, rng)
    leaves = {f"pool.{name}": leaf for name, leaf in pool._asdict().items()}
    learner = state.learner | jax.tree.map(jnp.asarray, leaves)
    return dataclasses.replace(state, learner=learner)


def better(new: Best, old: Best) -> np.ndarray:
    """Return whether the new evaluation is better than the old one, `(S,)` bool.

    The order of the criteria is: proven, lower loss rate, higher win rate. If all are
    equal, the new one is better. NaN is the worst rate.
    """

    def worth(best: Best) -> tuple[np.ndarray, ...]:
        wins = np.where(np.isnan(best.win_rate), -np.inf, best.win_rate)
        losses = np.where(np.isnan(best.loss_rate), np.inf, best.loss_rate)
        return np.asarray(best.proven), np.asarray(-losses), wins

    ahead = np.ones(np.shape(new.proven), bool)
    for a, b in reversed(list(zip(worth(new), worth(old), strict=True))):
        ahead = np.where(a == b, ahead, a > b)
    return ahead


def _chosen(ahead: np.ndarray, new: Any, old: Any) -> np.ndarray:  # noqa: ANN401
    wanted = ahead.reshape(ahead.shape + (1,) * (np.ndim(new) - ahead.ndim))
    return np.where(wanted, np.asarray(new), old)


def on_host(state: RunState) -> RunState:
    """Return a copy of the state in NumPy arrays; all processes call it together."""
    return jax.tree.map(np.array, mesh.gathered(state))


def on_device(state: RunState) -> RunState:
    """Return the state with its learner on the device.

    Arrays on the device are not copied.
    """
    learner = {
        name: leaf if isinstance(leaf, jax.Array) else jnp.array(leaf)
        for name, leaf in state.learner.items()
    }
    (learner,) = mesh.put((learner,), None)
    return dataclasses.replace(state, learner=learner)
