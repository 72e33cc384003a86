"""The levels: which player each is, and how strong it is over the whole tree."""

import numpy as np
import pytest

from jax_ttt.players import difficulty
from jax_ttt.players.difficulty import LEVELS
from jax_ttt.solver import policies, proof


def test_a_beginner_plays_at_random_and_an_expert_never_loses(
    player_of, agent_path, host_tree
):
    beginner, medium, expert = (
        player_of(difficulty.level_player_name(level, str(agent_path))).policy
        for level in LEVELS
    )
    np.testing.assert_array_equal(medium, player_of(agent_path).policy)
    mixed = 0.7 * policies.uniform_policy(host_tree) + 0.3 * medium
    np.testing.assert_allclose(beginner, mixed, atol=1e-12)
    assert np.sort(beginner[0]) == pytest.approx([0.7 / 9] * 8 + [0.3 + 0.7 / 9])
    assert proof.can_be_beaten(host_tree, beginner).all()
    assert not proof.can_be_beaten(host_tree, expert).any()
    assert difficulty.level_player_name("beginner", "mcts:50") == "blend:0.7:mcts:50"
