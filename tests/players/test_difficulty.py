"""The levels: which player each is, and how strong it is over the whole tree."""

import numpy as np
import pytest

from jax_ttt.config import player_kinds
from jax_ttt.config.player_kinds import LEVELS, PlayLevel
from jax_ttt.solver import policies, proof


def test_each_level_plays_fewer_random_moves_and_an_expert_never_loses(
    player_of, agent_path, host_tree
):
    policy = {
        level: player_of(player_kinds.level_player_name(level, str(agent_path))).policy
        for level in LEVELS
    }
    own, chance = player_of(agent_path).policy, policies.uniform_policy(host_tree)
    np.testing.assert_array_equal(policy["full"], own)
    shares: dict[PlayLevel, float] = {"beginner": 0.7, "casual": 0.35, "strong": 0.1}
    for level, share in shares.items():
        mixed = share * chance + (1 - share) * own
        np.testing.assert_allclose(policy[level], mixed, atol=1e-12)
        assert proof.can_be_beaten(host_tree, policy[level]).all()
        assert f"{100 * share:.0f}% random moves" in player_kinds.level_text(level)
    first = np.sort(policy["beginner"][0])
    assert first == pytest.approx([0.7 / 9] * 8 + [0.3 + 0.7 / 9])
    assert not proof.can_be_beaten(host_tree, policy["expert"]).any()
    assert player_kinds.level_player_name("beginner", "mcts:50") == "blend:0.7:mcts:50"
