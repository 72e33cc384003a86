"""Players' names: which are read, and which are refused with which message.

`tests/test_refused.py` has refused names on the command line.
"""

import re

import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.player_kinds import PLAYER_KINDS
from jax_ttt.files import agent_file
from jax_ttt.players import player_names
from jax_ttt.players.player_names import PlayerSpec
from jax_ttt.players.shipped import ALL, SHIPPED


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("random", ("random",)),
        ("shipped:table", ("agent",)),
        ("minimax-quick", ("minimax-quick",)),
        ("mcts", ("mcts", 4000)),
        ("mcts-online", ("mcts-online", 200)),
        ("blend:0.7:mcts:50", ("blend", 0.7, PlayerSpec("mcts:50", "mcts", 50))),
    ],
)
def test_names_are_read(name, spec):
    assert player_names.read_name(name, "tic_tac_toe") == PlayerSpec(name, *spec)


def test_a_path_is_an_agent_but_for_the_shipped_ones(tmp_path, monkeypatch):
    (tmp_path / "agent.safetensors").touch()
    spec = player_names.read_name(f"lookahead:2:{tmp_path}", "connect_four")
    assert (spec.kind, spec.number) == ("lookahead", 2)
    inner = player_names.read_name(str(tmp_path), "connect_four")
    assert spec.inner == inner
    assert (inner.kind, inner.path) == ("agent", tmp_path / "agent.safetensors")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shipped:table").touch()
    spec = player_names.read_name("shipped:table", "tic_tac_toe")
    assert (spec.kind, spec.path) == ("agent", SHIPPED["table"])


@pytest.mark.parametrize(
    ("name", "env_id", "reason"),
    [
        ("", "tic_tac_toe", "no such file, and no known player"),
        ("a\0b", "tic_tac_toe", "no such file, and no known player"),
        ("minmax", "tic_tac_toe", "no known player; did you mean minimax?"),
        ("shipped:networks", "tic_tac_toe", "; did you mean shipped:network?"),
        ("blend:nan:random", "tic_tac_toe", "a number from 0 to 1, got 'nan'"),
        ("blend:0.5:", "tic_tac_toe", "needs a player after it: blend:P:PLAYER"),
        ("lookahead", "tic_tac_toe", "needs a player after it: lookahead:D:AGENT"),
        ("lookahead:0:RUN", "tic_tac_toe", "a whole number from 1 to 9, got '0'"),
        (
            "blend:1:minimax",
            "connect_four",
            "at most 100,000 positions: tic_tac_toe",
        ),
        ("./runn", "tic_tac_toe", "no such file or folder; did you mean run?"),
        ("./empty", "tic_tac_toe", "empty/agent.safetensors: no such file"),
    ],
)
def test_other_names_are_refused(name, env_id, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run/agent.safetensors").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused) as error:
        player_names.read_name(name.replace("RUN", "run"), env_id)
    first, *kinds = str(error.value).splitlines()
    assert reason in first
    assert len(kinds) == ("no known player" in first) * len(PLAYER_KINDS)


def test_names_are_nested_only_so_deep():
    deepest = "blend:0.1:" * player_names.MAX_NESTING + "random"
    assert player_names.read_name(deepest, "tic_tac_toe").kind == "blend"
    with pytest.raises(Refused, match="nested at most 20 levels deep"):
        player_names.read_name("blend:0.1:" * 100_000 + deepest, "tic_tac_toe")


def test_the_help_names_the_game_of_each_shipped_agent():
    for name, path in ALL.items():
        text = PLAYER_KINDS[f"shipped:{name}"]
        assert agent_file.read_env_id(path) in re.findall(r"\w+", text)
