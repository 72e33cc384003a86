"""Exact grades of a network in training, and the seats that they are for."""

import jax
import jax.numpy as jnp
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.grading import evaluation, network_grades
from jax_ttt.networks import q_network
from jax_ttt.players.network import network_of


def test_a_network_of_nan_has_no_evaluation(tree):
    network = network_of(Config.of(hidden_size=16).architecture)
    params = q_network.init_params(network, jax.random.key(5))
    params = jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), params)
    seats = "first", "second"
    result = network_grades.grade_exactly(network, params, tree, seats)
    with pytest.raises(FloatingPointError, match="not finite"):
        evaluation.summary(result)
