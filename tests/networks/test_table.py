"""Tables: the number of their rows, and the rows that decisions use."""

import jax
import jax.numpy as jnp
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import losses
from jax_ttt.envs.stones import Positions
from jax_ttt.networks import q_network, table
from jax_ttt.players.network import network_of

CONFIG = Config.of(network="table")


def test_a_table_has_a_row_for_each_board_of_its_key(tree):
    for key, shape in {
        "position": (5478, 9),
        "after-state": (5478, 1),
        "hash": (19_683, 9),
    }.items():
        config = CONFIG.replace(table_key=key)
        (leaf,) = jax.tree.leaves(
            q_network.init_params(
                network_of(config.architecture), jax.random.key(0), 0.25
            )
        )
        assert leaf.shape == shape
        assert (leaf == 0.25).all()


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


def test_the_values_of_all_moves_by_the_first_head_come_before_those_of_the_second():
    """Two boards, three moves each, which lead to the rows 1 to 3 and 3 to 1."""
    after = jnp.array([[1, 2, 3], [3, 2, 1]])
    positions = Positions(by_number=jnp.array([0, 1]), after=after)
    values = jnp.array([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    found = table.by_after_state(values, jnp.array([1, 0]), positions)
    assert found.tolist() == [[3, 2, 1, 30, 20, 10], [1, 2, 3, 10, 20, 30]]
