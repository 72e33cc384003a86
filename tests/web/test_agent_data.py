"""What the page is told of an agent agrees with the rest of the program."""

import base64
import dataclasses
import functools

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.catalogue import SEATS
from jax_ttt.networks import q_network
from jax_ttt.players import agents
from jax_ttt.players.agents import AgentError
from jax_ttt.players.shipped import SHIPPED
from jax_ttt.web import agent_data


@pytest.fixture(scope="module", params=["network", "table"])
def agent(request):
    return agents.load_agent(SHIPPED[request.param])


@pytest.fixture(scope="module")
def values(agent):
    return agent_data.action_values(agent)


def test_values_are_the_networks_where_legal_and_nan_elsewhere(
    agent, values, host_tree
):
    legal = host_tree.legal_action_mask
    assert values.dtype == np.float32
    assert (np.isnan(values) == ~legal).all()
    here = host_tree.decisions[::7]
    q_values = jax.jit(functools.partial(q_network.q_values, agent.network))
    asked = q_values(agent.params, host_tree.obs[here])
    np.testing.assert_allclose(
        values[here][legal[here]], np.asarray(asked)[legal[here]], atol=1e-5
    )


def test_the_page_gets_the_agents_moves(agent, host_tree):
    moves = np.frombuffer(base64.b64decode(agent_data.moves_text(agent)), np.uint8)
    decisions = host_tree.decisions
    probs = agent_data.policy_of(agent)
    assert (probs[decisions, moves[decisions]] == 1).all()


def test_a_losing_line_is_lost_by_the_agents_own_moves(host_tree, tmp_path):
    path = tiny.save_untrained(tmp_path / "agent.safetensors")
    untrained = agents.load_agent(path)
    grade = agent_data.grade(untrained)
    moves = agent_data.policy_of(untrained).argmax(axis=1)
    for seat in SEATS:
        line = grade.followed[seat].losing_line
        assert line is not None
        position = 0
        for move in line:
            if host_tree.to_move(position) == seat:
                assert move == moves[position]
            position = int(host_tree.successor[position, move])
        assert host_tree.lost_by(seat)[position]


def test_values_that_are_not_finite_are_refused():
    agent = agents.load_agent(SHIPPED["network"])
    broken = jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), agent.params)
    with pytest.raises(AgentError, match="not finite"):
        agent_data.action_values(dataclasses.replace(agent, params=broken))
