"""Metrics of a chunk of updates."""

from typing import Any

import jax
import numpy as np

from jax_ttt.dqn import metrics
from jax_ttt.dqn.metrics import Metrics

chunk_metrics = jax.jit(metrics.chunk_metrics)


def test_a_chunk_has_sums_of_counts_means_of_values_and_the_last_of_the_rest():
    row = np.array([1.0, 2.0, 6.0], np.float32)
    fields: list[Any] = [row * (place + 1) for place in range(10)]  # each its own
    found = chunk_metrics(Metrics(*fields), {"weights": row})
    assert found._asdict() == {
        **{"loss": 3, "grad_norm": 6, "mean_max_q": 9},
        **{"epsilon": 24, "learning_rate": 30},
        **{"games": 54, "wins": 63, "losses": 72, "env_steps": 81},
        **{"rows": 60, "finite_losses": 3, "finite_grads": 3, "finite_weights": True},
    }


def test_a_chunk_names_the_first_update_whose_values_are_not_finite():
    good: Any = np.zeros(4, np.float32)
    weights = [np.zeros((2, 2)), np.zeros(3)]
    rows = Metrics(*[good] * 10)
    rows = rows._replace(loss=np.array([0.0, 1.0, np.inf, 0.0]))
    rows = rows._replace(grad_norm=np.array([0.0, np.nan, 0.0, np.nan]))
    found = chunk_metrics(rows, weights)
    assert (found.finite_losses, found.finite_grads) == (2, 1)
    assert found.finite_weights
    weights[1][2] = -np.inf
    assert not chunk_metrics(rows, weights).finite_weights
