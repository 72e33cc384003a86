"""The backward pass, compared with known counts and lengths of games."""

import jax
import numpy as np

from jax_ttt.games.tree import array_module
from jax_ttt.solver.backward_pass import backward


def counts_and_lengths(tree):
    """Return the games from each position, and the longest and the shortest one."""
    xp = array_module(tree.terminal)
    legal = tree.legal_action_mask[..., None]

    def node_value(here, after):
        games = (legal[here] * after[..., :1]).sum(axis=1)
        longest = xp.where(legal[here], after[..., 1:2], -1).max(axis=1) + 1
        shortest = xp.where(legal[here], after[..., 2:], 99).min(axis=1) + 1
        return xp.concatenate([games, longest, shortest], axis=1)

    ends = xp.stack([tree.terminal, 0 * tree.terminal, 0 * tree.terminal], axis=1)
    return backward(tree, ends.astype(np.float32), node_value)


def test_one_pass_counts_all_games_and_finds_the_longest_and_the_shortest(
    tree, host_tree
):
    values = counts_and_lengths(host_tree)
    assert values[0].tolist() == [255_168, 9, 5]
    assert (values[host_tree.terminal] == [1, 0, 0]).all()
    np.testing.assert_array_equal(jax.jit(counts_and_lengths)(tree), values)
