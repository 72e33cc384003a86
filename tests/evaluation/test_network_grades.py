"""Exact grades of a network in training, and the seats that they are for."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.choices import SEATS_OF
from jax_ttt.config.settings import Config
from jax_ttt.evaluation import evaluation, network_grades
from jax_ttt.networks import q_network
from jax_ttt.players import agents
from jax_ttt.players.network import network_of


def test_a_network_of_nan_has_no_evaluation(tree):
    network = network_of(Config.of(hidden_size=16).architecture)
    params = q_network.init_params(network, jax.random.key(5))
    params = jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), params)
    seats = "first", "second"
    result = network_grades.grade_exactly(network, params, tree, seats)
    with pytest.raises(FloatingPointError, match="not finite"):
        evaluation.summary(result)


@pytest.mark.parametrize("setting", SEATS_OF)
def test_training_and_evaluate_agree_on_the_seat(
    setting, one_seat, tree, host_tree, q_star
):
    """The tables are perfect or worst in each seat, for every setting."""
    agent = agents.load_agent(one_seat)
    config = agent.config.replace(seat=setting)
    first = host_tree.first_to_move[:, None]
    for safe in itertools.product([True, False], repeat=2):
        signs = np.where(first, *(1.0 if perfect else -1.0 for perfect in safe))
        values = jnp.asarray(signs * q_star, jnp.float32)
        params = jax.tree.map(lambda _, v=values: v, agent.params)
        network = network_of(config.architecture)
        found = network_grades.grade_exactly(network, params, tree, config.seats)
        is_safe = dict(zip(("first", "second"), safe, strict=True))
        expected = all(is_safe[seat] for seat in SEATS_OF[setting])
        exact = evaluation.summary(found).exact
        assert exact is not None
        assert exact.unbeatable is expected
