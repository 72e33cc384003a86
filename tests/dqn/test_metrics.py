"""Metrics of several updates."""

from typing import Any

import jax
import numpy as np

from jax_ttt.dqn import metrics
from jax_ttt.dqn.metrics import GameCounts, Metrics

add_update = jax.jit(metrics.add_update)


def update_of(number):
    """Return the metrics of an update: multiples of a number, each field its own."""
    floats: Any = (np.float32(number * place) for place in range(1, 6))
    counts: Any = (np.int32(number * place) for place in range(6, 10))
    others: Any = (np.int32(number * 10), *[np.int32(1)] * 3, np.bool(True))
    return Metrics._make((*floats, GameCounts._make(counts), *others))


def added(updates):
    """Return the metrics of these updates together."""
    total = metrics.no_updates()
    for update in updates:
        total = add_update(total, update)
    return total


def test_several_updates_have_sums_of_counts_means_of_values_and_the_last_of_the_rest():
    total = added(map(update_of, (1, 2, 6)))
    assert total.counts._asdict() == {
        "games": 54,
        "wins": 63,
        "losses": 72,
        "env_steps": 81,
    }
    assert total._asdict() == {
        "counts": total.counts,
        "loss": 3,
        "grad_norm": 6,
        "mean_max_q": 9,
        "epsilon": 24,
        "learning_rate": 30,
        "rows": 60,
        "updates": 3,
        "finite_losses": 3,
        "finite_grads": 3,
        "finite_weights": True,
    }


def test_they_name_the_first_update_whose_values_are_not_finite():
    values = [(0, 0), (1, np.nan), (np.inf, 0), (0, np.nan), (-np.inf, 0)]
    pairs: Any = np.array(values, np.float32)
    total = added(
        update_of(0)._replace(loss=loss, grad_norm=grad) for loss, grad in pairs
    )
    assert (total.finite_losses, total.finite_grads, total.updates) == (2, 1, 5)
    assert not np.isfinite([total.loss, total.grad_norm]).any()
