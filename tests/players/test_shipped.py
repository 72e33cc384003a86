"""The agents that come with the package: small, named, and proven again."""

import hashlib
import json

import commands
import jax
import numpy as np
import pytest

from jax_ttt import evaluate
from jax_ttt.config.game_facts import DEFAULT_GAME, SEATS
from jax_ttt.grading import search
from jax_ttt.players import names, network_player, registry, saved_agents
from jax_ttt.players.shipped import CERTIFICATES, CONNECT_FOUR, SHIPPED
from jax_ttt.solver import proof

every_agent = pytest.mark.parametrize("name", SHIPPED)


def grade_by_seat(*arguments):
    """Return the grades of a search by seat."""
    results = search.search_by_seat(*arguments)
    return {seat: searched.grade for seat, searched in results.items()}


@every_agent
def test_an_agent_is_proven_unbeatable_in_each_seat(name, host_tree):
    agent = saved_agents.load_agent(SHIPPED[name])
    assert agent.config.network.is_table == (name == "table")
    probs = np.asarray(
        network_player.greedy_policy(agent.network, agent.params, host_tree)
    )
    assert not proof.beaten(host_tree, probs).any()
    for seat in SEATS:
        assert proof.losing_line(host_tree, probs, seat) is None


@every_agent
def test_an_agent_is_a_player_by_its_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the file is found from any folder
    spec = names.read_name(f"shipped:{name}", DEFAULT_GAME)
    entrant = registry.make_player(spec, DEFAULT_GAME, jax.random.key(0))
    assert entrant.name == f"shipped:{name}"
    assert isinstance(entrant, registry.AgentPlayer)
    assert entrant.agent.config == saved_agents.load_agent(SHIPPED[name]).config
    blend = names.read_name(f"blend:0.5:shipped:{name}", DEFAULT_GAME)
    assert names.game_of_players([blend], None) == DEFAULT_GAME
    assert registry.make_player(blend, DEFAULT_GAME, jax.random.key(0)).seats == SEATS


@every_agent
def test_a_certificate_is_that_of_the_agent(name, tmp_path):
    """The agent gives the same bytes again, and its file has the checksum."""
    path = tmp_path / "certificate.json"
    assert commands.run(evaluate, [f"shipped:{name}", "--certificate", str(path)]) == 0
    assert CERTIFICATES[name].read_bytes() == path.read_bytes()
    digest = hashlib.sha256(SHIPPED[name].read_bytes()).hexdigest()
    assert json.loads(path.read_text())["sha256"] == digest


@pytest.mark.parametrize("name", CONNECT_FOUR)
def test_an_agent_of_connect_four_is_a_player_of_its_game(name):
    assert 10_000 < CONNECT_FOUR[name].stat().st_size < 1_000_000
    spec = names.read_name(f"shipped:{name}", "connect_5x4")
    env_id = names.game_of_players([spec], None)
    assert env_id == name.replace("-", "_")
    entrant = registry.make_player(spec, env_id, jax.random.key(0))
    assert entrant.is_deterministic
    assert entrant.seats == SEATS


@pytest.mark.slow
def test_the_agent_of_five_columns_is_proven_again():
    spec = names.read_name("shipped:connect-5x4", "connect_5x4")
    entrant = registry.make_player(spec, "connect_5x4", jax.random.key(0))
    found = grade_by_seat(entrant, 10**6)
    assert found.keys() == set(SEATS)
    assert all(seat.unbeatable for seat in found.values())


def test_an_agent_is_refused_in_another_game():
    spec = names.read_name("shipped:table", "connect_four")
    with pytest.raises(
        saved_agents.AgentError, match="made for tic_tac_toe, not for conn"
    ):
        registry.make_player(spec, "connect_four", jax.random.key(0))
