"""The agents that come with the package: small, named, and proven again."""

import hashlib
import json

import commands
import jax
import pytest

from jax_ttt import evaluate
from jax_ttt.config.game_facts import SEATS
from jax_ttt.games.played_game import replay
from jax_ttt.players import player_names, registry
from jax_ttt.players.shipped import CERTIFICATES, CONNECT_FOUR, SHIPPED
from jax_ttt.solver import proof


@pytest.mark.parametrize("name", SHIPPED)
def test_an_agent_is_proven_unbeatable_and_has_its_certificate(
    name, host_tree, player_of, tmp_path, monkeypatch
):
    """The agent gives the same certificate again, with the checksum of its file."""
    monkeypatch.chdir(tmp_path)  # the agent is found from any folder
    player = player_of(f"shipped:{name}")
    assert player.agent.config.network.is_table == (name == "table")
    assert not proof.can_be_beaten(host_tree, player.policy).any()
    assert player_of(f"blend:0.5:shipped:{name}").seats == SEATS
    path = tmp_path / "certificate.json"
    assert commands.run(evaluate, [f"shipped:{name}", "--certificate", str(path)]) == 0
    assert CERTIFICATES[name].read_bytes() == path.read_bytes()
    digest = hashlib.sha256(SHIPPED[name].read_bytes()).hexdigest()
    assert json.loads(path.read_text())["sha256"] == digest


@pytest.mark.parametrize("name", CONNECT_FOUR)
def test_an_agent_of_connect_four_is_a_player_of_its_game(name, player_of):
    assert 10_000 < CONNECT_FOUR[name].stat().st_size < 1_000_000
    spec = player_names.read_name(f"shipped:{name}", "connect_5x4")
    env_id = player_names.game_of_players([spec], None)
    assert env_id == name.replace("-", "_")
    player = player_of(f"shipped:{name}", env_id)
    assert isinstance(player, registry.AgentPlayer)
    assert player.is_deterministic
    assert player.seats == SEATS


@pytest.mark.slow
def test_the_agent_of_7x6_plays_the_losing_lines_in_its_file(player_of):
    """So the file's verdict needs no search, and the page can show the lines."""
    player = player_of("shipped:connect-7x6", "connect_7x6")
    lines = [player.agent.grade.seat(seat).losing_line for seat in SEATS]
    starts = [line[:count] for line in lines for count in range(len(line))]
    states = replay(player.env_id, [*starts, *lines])
    moves = player.choose(jax.random.key(0), states).tolist()
    played = dict(zip(starts, moves, strict=False))
    for own, line in enumerate(lines):
        for count in range(own, len(line), 2):
            assert played[line[:count]] == line[count]
        assert len(line) % 2 == own, "the opponent has the last move"
    assert states.terminated[-2:].all()
    assert (states.rewards[-2:] != 0).all(), "not a draw"
    assert player.agent.grade.unbeatable is False
