"""The backward pass, compared with known counts and lengths of games."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.solver.backward import backward


def test_the_sum_over_moves_counts_the_games(host_tree):
    """The value of a position is the number of games that continue from it."""
    legal = host_tree.legal_action_mask
    ends = host_tree.terminal[:, None].astype(float)
    count = backward(
        host_tree, ends, lambda here, after: (legal[here][..., None] * after).sum(1)
    )
    assert count[0, 0] == 255_168
    assert (count[host_tree.terminal] == 1).all()


def test_one_pass_carries_several_values_and_jax_gives_the_same(tree, host_tree):
    def longest_and_shortest(tree, xp):
        legal = tree.legal_action_mask[..., None]

        def node_value(here, after):
            longest = xp.where(legal[here], after[..., :1], -1).max(1)
            shortest = xp.where(legal[here], after[..., 1:], 99).min(1)
            return xp.concatenate([longest, shortest], axis=1) + 1.0

        return backward(tree, xp.zeros((tree.num_positions, 2)), node_value)

    found = longest_and_shortest(host_tree, np)
    assert found[0].tolist() == [9, 5]  # moves of the longest and the shortest game
    traced = jax.jit(lambda tree: longest_and_shortest(tree, jnp))(tree)
    np.testing.assert_array_equal(traced, found)
