"""Players' names: which are read, and which are refused with which message.

`tests/test_refused.py` has refused names on the command line.
"""

import re

import jax
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.player_kinds import ALL, PLAYER_KINDS, SHIPPED
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.registry import PlayerSpec


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("random", ("random",)),
        ("shipped:table", ("agent",)),
        ("minimax-quick", ("minimax-quick",)),
        ("mcts", ("mcts", 2000)),
        ("mcts-online", ("mcts-online", 200)),
        ("blend:0.7:mcts:50", ("blend", 0.7, PlayerSpec("mcts:50", "mcts", 50))),
    ],
)
def test_names_are_read(name, spec):
    assert registry.read_player_name(name) == PlayerSpec(name, *spec)


def test_a_path_is_an_agent_but_for_the_shipped_ones(tmp_path, monkeypatch):
    (tmp_path / "agent.safetensors").touch()
    spec = registry.read_player_name(f"lookahead:2:{tmp_path}")
    assert (spec.kind, spec.number) == ("lookahead", 2)
    inner = registry.read_player_name(str(tmp_path))
    assert spec.inner == inner
    assert (inner.kind, inner.path) == ("agent", tmp_path / "agent.safetensors")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shipped:table").touch()
    spec = registry.read_player_name("shipped:table")
    assert (spec.kind, spec.path) == ("agent", SHIPPED["table"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "no such file, and no known player"),
        ("a\0b", "no such file, and no known player"),
        ("minmax", "no known player; did you mean minimax?"),
        ("shipped:networks", "; did you mean shipped:network?"),
        ("blend:nan:random", "a number from 0 to 1, got 'nan'"),
        ("blend:0.5:", "needs a player after it: blend:P:PLAYER"),
        ("lookahead", "needs a player after it: lookahead:D:AGENT"),
        ("lookahead:0:RUN", "a whole number from 1 to 9, got '0'"),
        ("./runn", "no such file or folder; did you mean run?"),
        ("./empty", "empty/agent.safetensors: no such file"),
    ],
)
def test_other_names_are_refused(name, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run/agent.safetensors").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused) as error:
        registry.read_player_name(name.replace("RUN", "run"))
    first, *kinds = str(error.value).splitlines()
    assert reason in first
    assert len(kinds) == ("no known player" in first) * len(PLAYER_KINDS)


@pytest.mark.parametrize("name", ["minimax", "mcts:3", "blend:1:minimax-first"])
def test_a_player_that_needs_the_tree_plays_no_large_game(name):
    spec = registry.read_player_name(name)
    assert registry.game_of_players([spec]) == "tic_tac_toe"
    rule = "needs an enumerable game, of at most 100,000 positions: tic_tac_toe"
    with pytest.raises(Refused, match=rule):
        registry.game_of_players([spec], "connect_four")
    with pytest.raises(Refused, match=rule):
        registry.make_player(spec, "connect_four", jax.random.key(0))


def test_names_are_nested_only_so_deep():
    deepest = "blend:0.1:" * registry.MAX_NESTING + "random"
    assert registry.read_player_name(deepest).kind == "blend"
    with pytest.raises(Refused, match="nested at most 20 levels deep"):
        registry.read_player_name("blend:0.1:" * 100_000 + deepest)


def test_the_help_names_the_game_of_each_shipped_agent():
    for name, path in ALL.items():
        text = PLAYER_KINDS[f"shipped:{name}"]
        assert saved_agents.read_env_id(path) in re.findall(r"\w+", text)
