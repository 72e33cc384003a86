"""Tables: the number of their rows, and the rows that decisions use."""

import jax
import jax.numpy as jnp
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import losses
from jax_ttt.networks import q_network
from jax_ttt.players.network import network_of

CONFIG = Config.of(network="table")


def test_a_table_has_a_row_for_each_board_of_its_key(tree):
    for key, shape in {
        "position": (5478, 9),
        "after-state": (5478, 1),
        "hash": (19_683, 9),
    }.items():
        config = CONFIG.replace(table_key=key)
        (table,) = jax.tree.leaves(
            q_network.init_params(
                network_of(config.architecture), jax.random.key(0), 0.25
            )
        )
        assert table.shape == shape
        assert (table == 0.25).all()


@pytest.mark.parametrize(
    ("key", "canonical", "rows"),
    [
        ("position", False, 4520),
        ("position", True, 627),
        ("hash", True, 627),
        ("after-state", True, 764),  # all classes except the empty board
        ("after-state", False, 5477),
    ],
)
def test_the_rows_that_all_decisions_use(tree, key, canonical, rows):
    config = CONFIG.replace(table_key=key, canonical=canonical)
    obs, legal = tree.obs[tree.decisions], tree.legal_action_mask[tree.decisions]
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))

    def legal_sum(params):
        return jnp.where(
            legal, q_network.q_values(network_of(config.architecture), params, obs), 0.0
        ).sum()

    assert int(losses.visited_rows(jax.grad(legal_sum)(params)).sum()) == rows
