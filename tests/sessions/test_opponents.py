"""Levels and agents as policies."""

import numpy as np
import pytest
import served

from jax_ttt.players import agents
from jax_ttt.players.levels import BEGINNER_CHANCE, LEVELS
from jax_ttt.players.shipped import SHIPPED
from jax_ttt.sessions import opponents as module
from jax_ttt.sessions.agent_list import AgentList
from jax_ttt.sessions.opponents import Opponents
from jax_ttt.solver import minimax


@pytest.fixture
def training():
    return served.Training()


@pytest.fixture
def opponents(tmp_path, training):
    found = Opponents(AgentList(tmp_path / "runs", tmp_path), training)
    yield found
    found.close()


def test_levels_play_as_they_are_described(opponents, host_tree):
    by_level = {level: opponents.opponent(level, None, None).probs for level in LEVELS}
    learned = opponents.policy("shipped/network")
    np.testing.assert_array_equal(by_level["medium"], learned)
    np.testing.assert_array_equal(by_level["expert"], minimax.policy(host_tree))
    legal = host_tree.legal_action_mask
    even = legal / legal.sum(axis=1, keepdims=True).clip(1)
    expected = BEGINNER_CHANCE * even + (1 - BEGINNER_CHANCE) * learned
    np.testing.assert_allclose(by_level["beginner"], expected)
    for probs in by_level.values():
        assert not probs[~legal].any()
        sums = probs[host_tree.decisions].sum(axis=1)
        np.testing.assert_allclose(sums, 1, atol=1e-12)


def test_a_level_may_have_another_agent_behind_it(opponents):
    found = opponents.opponent("medium", "shipped/table", None)
    np.testing.assert_array_equal(found.probs, opponents.policy("shipped/table"))
    assert found.about == {"level": "medium", "agent": "shipped/table"}


def test_the_agent_in_training_is_asked_for_each_time(opponents, training):
    training.trained = agents.load_agent(SHIPPED["table"])
    table = opponents.policy(module.LIVE)
    training.trained = agents.load_agent(SHIPPED["network"])
    network = opponents.policy(module.LIVE)
    assert not np.array_equal(table, network)
