"""Tables: the number of their rows, and the rows that decisions use."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from jax_ttt.config.settings import Config
from jax_ttt.dqn import losses
from jax_ttt.games import board_index
from jax_ttt.networks import q_network, table
from jax_ttt.networks.table import Positions
from jax_ttt.players.saved_agents import network_from

CONFIG = Config.of(network="table", initial_value=0.25)


@pytest.mark.parametrize(
    ("key", "shape", "rows", "canonical_rows"),
    [
        ("position", (5478, 9), 4520, 627),
        ("after-state", (5478, 1), 5477, 764),  # all classes except the empty board
    ],
)
def test_a_table_has_a_row_for_each_board_and_decisions_use_some(
    host_tree, key, shape, rows, canonical_rows
):
    decisions = host_tree.decisions
    obs, legal = host_tree.obs[decisions], host_tree.legal_action_mask[decisions]

    @jax.jit
    def num_visited(network, params, obs):
        def legal_sum(params):
            q_values = q_network.action_values(network, params, obs)
            return jnp.where(legal, q_values, 0.0).sum()

        return losses.visited_rows(jax.grad(legal_sum)(params)).sum()

    for canonical, expected in ((False, rows), (True, canonical_rows)):
        config = CONFIG.replace(table_key=key, canonical=canonical)
        network = network_from(config.architecture)
        params = q_network.init_params(network, jax.random.key(0))
        (leaf,) = jax.tree.leaves(params)
        assert leaf.shape == shape
        assert (np.asarray(leaf) == 0.25).all()
        assert num_visited(network, params, obs) == expected


def test_values_are_float32_also_where_the_initial_one_is_an_int():
    """JSON of other programs writes 0.0 as 0."""
    network = network_from(CONFIG.replace(initial_value=0).architecture)
    (leaf,) = jax.tree.leaves(q_network.init_params(network, jax.random.key(0)))
    assert leaf.dtype == jnp.float32


def test_the_values_of_all_moves_by_the_first_head_come_before_those_of_the_second():
    """Two boards, three moves each, which lead to the rows 3 to 1 and 1 to 3."""
    boards = np.array([[False, False], [False, True]]).reshape(2, 1, 1, 2)
    index = board_index.index_positions(boards, np.arange(2), np.zeros(2, bool))
    after = np.array([[3, 2, 1], [1, 2, 3]], np.int32)
    positions = Positions(*jax.device_put((index, after)))
    module = table.Table("after-state", positions, 2, 3, initial_value=0.0)
    rows = np.array([[0, 0], [1, 10], [2, 20], [3, 30]], np.float32)
    nnx.update(module, {"values": jax.device_put(rows)})
    values = jax.jit(module)(boards, positions)
    assert values.tolist() == [[3, 2, 1, 30, 20, 10], [1, 2, 3, 10, 20, 30]]
