"""The levels: which player each is, and how strong it is over the whole tree."""

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.games import tree as trees
from jax_ttt.players import levels, names, registry
from jax_ttt.players.levels import LEVELS
from jax_ttt.solver import policies, proof

SEATS = ("first", "second")


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("levels")
    return str(tiny.save_untrained(folder / "agent.safetensors"))


def entered(name):
    spec = names.read_name(name, "tic_tac_toe")
    return registry.make_player(spec, "tic_tac_toe", jax.random.key(0))


@pytest.fixture(scope="module")
def policy_of(agent_path):
    """Return each level's policy with the same agent behind it."""
    return {
        level: entered(levels.level_player_name(level, agent_path)).policy
        for level in LEVELS
    }


def test_a_beginner_moves_at_random_seven_times_in_ten(policy_of):
    tree = trees.enumerated("tic_tac_toe")
    mixed = 0.7 * policies.uniform(tree) + 0.3 * policy_of["medium"]
    np.testing.assert_allclose(policy_of["beginner"], mixed, atol=1e-12)
    at_start = np.sort(policy_of["beginner"][0])
    assert at_start == pytest.approx([0.7 / 9] * 8 + [0.3 + 0.7 / 9])


def test_medium_is_the_agent_itself(agent_path, policy_of):
    np.testing.assert_array_equal(policy_of["medium"], entered(agent_path).policy)
    assert set(np.unique(policy_of["medium"])) == {0.0, 1.0}


def test_an_expert_never_loses_and_a_beginner_does(policy_of):
    tree = trees.enumerated("tic_tac_toe")
    assert not proof.beaten(tree, policy_of["expert"]).any()
    assert proof.beaten(tree, policy_of["beginner"]).all()
    for seat in SEATS:
        assert proof.losing_line(tree, policy_of["expert"], seat) is None


def test_any_player_may_stand_behind_a_level():
    assert levels.level_player_name("beginner", "mcts:50") == "blend:0.7:mcts:50"
    assert levels.level_player_name("medium", "minimax-quick") == "minimax-quick"
    assert levels.level_player_name("expert", "no/such/agent") == "minimax"
