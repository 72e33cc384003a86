"""Metrics of several updates."""

from typing import Any

import jax
import numpy as np

from jax_ttt.dqn import metrics
from jax_ttt.dqn.metrics import GameCounts, Metrics

add_update = jax.jit(metrics.add_update)
ONE: list[Any] = [np.int32(1), np.int32(1), np.int32(1), np.bool(True)]
"""One update, with a finite loss, gradient and weights."""


def added(updates):
    """Return the metrics of these updates together."""
    total = metrics.no_updates()
    for update in updates:
        total = add_update(total, update)
    return total


def test_several_updates_have_sums_of_counts_means_of_values_and_the_last_of_the_rest():
    updates = []
    for value in (1, 2, 6):
        fields: list[Any] = [np.float32(value * (i + 1)) for i in range(5)]
        ints: list[Any] = [
            np.int32(value * (i + 1)) for i in range(5, 10)
        ]  # each its own
        fields += [GameCounts(*ints[:4]), ints[4], *ONE]
        updates.append(Metrics(*fields))
    total = added(updates)
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
    zero: Any = np.float32(0)
    none: list[Any] = [np.int32(0)] * 4
    fields: list[Any] = [*[np.float32(0)] * 5, GameCounts(*none), none[0], *ONE]
    values = [(0, 0), (1, np.nan), (np.inf, 0), (0, np.nan), (-np.inf, 0)]
    total = added(
        Metrics(*fields)._replace(loss=zero + loss, grad_norm=zero + grad)
        for loss, grad in values
    )
    assert (total.finite_losses, total.finite_grads, total.updates) == (2, 1, 5)
    assert not np.isfinite([total.loss, total.grad_norm]).any()
