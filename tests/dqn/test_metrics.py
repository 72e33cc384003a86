"""Metrics of a chunk of updates."""

import jax.numpy as jnp

from jax_ttt.dqn.metrics import Metrics, of_chunk


def test_a_chunk_has_sums_of_counts_means_of_values_and_the_last_of_the_rest():
    row = jnp.array([1.0, 2.0, 6.0])
    found = of_chunk(Metrics(*[row] * len(Metrics._fields)))
    assert found._asdict() == {
        **dict.fromkeys(("loss", "grad_norm", "mean_max_q"), 3),
        **dict.fromkeys(("epsilon", "learning_rate", "rows"), 6),
        **dict.fromkeys(("games", "wins", "losses", "env_steps"), 9),
    }
