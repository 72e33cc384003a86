"""The agents that come with the package: small, named, and proven again."""

import hashlib
import json

import commands
import numpy as np
import pytest
from marks import mark_slow

from jax_ttt import evaluate
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.player_kinds import ALL, CONNECT_FOUR, SHIPPED
from jax_ttt.games import position_keys
from jax_ttt.games.state_keys import OPEN, WON
from jax_ttt.grading import search_grade
from jax_ttt.players import registry, saved_agents
from jax_ttt.solver import losing_lines, proof, successors


@pytest.mark.parametrize("name", mark_slow(SHIPPED, "network"))
def test_an_agent_is_proven_unbeatable_and_has_its_certificate(
    name, host_tree, player_of, tmp_path, monkeypatch
):
    """The agent gives the same certificate again, with the checksum of its file."""
    monkeypatch.chdir(tmp_path)  # the agent is found from any folder
    player = player_of(f"shipped:{name}")
    assert player.agent.config.is_table == (name == "table")
    assert not proof.can_be_beaten(host_tree, player.policy).any()
    assert player_of(f"blend:0.5:shipped:{name}").seats == SEATS
    path = tmp_path / "certificate.json"
    commands.run(evaluate, f"shipped:{name}", "--certificate", str(path))
    assert (
        SHIPPED[name].with_suffix(".certificate.json").read_bytes() == path.read_bytes()
    )
    digest = hashlib.sha256(SHIPPED[name].read_bytes()).hexdigest()
    assert json.loads(path.read_text())["sha256"] == digest


@pytest.mark.parametrize("name", mark_slow(CONNECT_FOUR, "connect-7x6"))
def test_an_agent_of_connect_four_is_a_player_of_its_game(name, player_of):
    spec = registry.read_player_name(f"shipped:{name}")
    env_id = registry.game_of_players([spec])
    assert env_id == name.replace("-", "_")
    player = player_of(f"shipped:{name}", env_id)
    assert isinstance(player, registry.AgentPlayer)
    assert player.evidence == "construction"
    assert player.seats == SEATS


@pytest.mark.parametrize("name", ["network", "connect-5x4"])
def test_a_network_of_integers_needs_no_correction(name):
    """It is proven as it is, in both seats, also by its file."""
    agent = saved_agents.load_agent(ALL[name])
    assert agent.precision == "int8"
    assert agent.corrections is None
    assert agent.grade.unbeatable
    for layer in [*agent.params.values()][:-1]:
        mantissas, _ = np.frexp(np.asarray(layer["scale"]))
        assert (mantissas == 0.5).all(), "not a power of two"


def test_the_agent_of_7x6_wins_every_game_moving_first_by_its_file(player_of):
    """`evaluate --seat first` proves it in minutes, so a test only reads it."""
    agent = player_of("shipped:connect-7x6", "connect_7x6").agent
    first = agent.grade.first
    assert agent.precision == "int8"
    assert first.proven == "win"
    assert first.lines.drawn == first.lines.lost == 0
    assert first.num_corrections == len(agent.corrections)
    assert agent.grade.proven is None, "the second seat can be beaten"


@pytest.mark.slow
def test_no_line_of_the_agent_of_7x6_is_lost_from_samples_of_its_levels(player_of):
    """Of 500 positions of each level, no reply leads to anything but a won game."""
    player = player_of("shipped:connect-7x6", "connect_7x6")
    searched = search_grade.searched_player(player, "first")
    levels = losing_lines.sample_levels(
        player=searched,
        level=0,
        keys=position_keys.first_number(player.env_id),
        num_positions=500,
        rng=np.random.default_rng(1),
    )
    assert len(levels) == 41
    for level, keys in enumerate(levels):
        for _, after in successors.expand_level(searched, keys):
            allowed = (OPEN, WON) if searched.moves_at(level) else (OPEN,)
            assert np.isin(after.result, allowed).all(), level
