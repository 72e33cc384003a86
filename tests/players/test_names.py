"""Players' names: which are read, and which are refused with which message."""

import re
import subprocess
import sys

import commands
import pytest

from jax_ttt.config.errors import PlayerError
from jax_ttt.files import agent_file
from jax_ttt.players import names
from jax_ttt.players.names import PlayerSpec
from jax_ttt.players.shipped import ALL, SHIPPED


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("random", PlayerSpec("random", "random")),
        ("shipped:table", PlayerSpec("shipped:table", "agent")),
        ("minimax-quick", PlayerSpec("minimax-quick", "minimax-quick")),
        ("mcts", PlayerSpec("mcts", "mcts", 4000)),
        ("mcts:50", PlayerSpec("mcts:50", "mcts", 50)),
        ("mcts-online", PlayerSpec("mcts-online", "mcts-online", 200)),
        (
            "blend:0.7:mcts:50",
            PlayerSpec(
                "blend:0.7:mcts:50", "blend", 0.7, PlayerSpec("mcts:50", "mcts", 50)
            ),
        ),
    ],
)
def test_names_are_read(name, spec):
    assert names.read_name(name, "tic_tac_toe") == spec


def test_a_path_is_an_agent(tmp_path):
    (tmp_path / "agent.safetensors").touch()
    spec = names.read_name(str(tmp_path), "tic_tac_toe")
    assert (spec.kind, spec.path) == ("agent", tmp_path / "agent.safetensors")
    spec = names.read_name(f"lookahead:2:{tmp_path}", "connect_four")
    assert (spec.kind, spec.number) == ("lookahead", 2)
    assert spec.inner == names.read_name(str(tmp_path), "connect_four")


def test_an_agent_of_the_package_comes_before_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shipped:table").touch()
    spec = names.read_name("lookahead:2:shipped:table", "tic_tac_toe").inner
    assert spec is not None
    assert (spec.kind, spec.path) == ("agent", SHIPPED["table"])


@pytest.mark.parametrize(
    "name",
    [
        "minmax",
        "",
        "a\0b",
        "random:1",
    ],
)
def test_an_unknown_player_is_refused_with_the_list_of_known_ones(name):
    with pytest.raises(PlayerError) as error:
        names.read_name(name, "tic_tac_toe")
    first, *others = str(error.value).splitlines()
    assert first.startswith(f"{name}: no such file, and no known player")
    known = [f"  {kind}: {text}" for kind, text in names.PLAYER_KINDS.items()]
    assert others == known


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mcts:0", "mcts needs a whole number from 1 to 1,000,000, got '0'"),
        ("blend:nan:random", "blend needs a number from 0 to 1, got 'nan'"),
        ("blend:0.5:", "blend needs a player after it: blend:P:PLAYER"),
        ("lookahead", "lookahead needs a player after it: lookahead:D:AGENT"),
        ("lookahead:2:random", "lookahead needs a saved agent, got 'random'"),
        ("lookahead:0:tests", "lookahead needs a whole number from 1 to 9, got '0'"),
    ],
)
def test_numbers_out_of_range_are_refused(name, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/agent.safetensors").touch()
    with pytest.raises(PlayerError) as error:
        names.read_name(name, "tic_tac_toe")
    assert reason in str(error.value)


def test_names_are_nested_only_so_deep():
    deepest = "blend:0.1:" * names.MAX_NESTING + "random"
    assert names.read_name(deepest, "tic_tac_toe").kind == "blend"
    for many in (1, 100_000):
        with pytest.raises(PlayerError, match="nested at most 20 levels deep"):
            names.read_name("blend:0.1:" * many + deepest, "tic_tac_toe")


@pytest.mark.parametrize(
    "name", ["minimax", "minimax-quick", "mcts:5", "blend:1:minimax"]
)
def test_a_player_that_needs_a_tree_is_refused_in_a_large_game(name):
    with pytest.raises(PlayerError, match=r"needs an enumerable game"):
        names.read_name(name, "connect_four")


def test_names_are_read_without_jax():
    code = "import sys; import jax_ttt.arena; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_opponent_is_the_agent_itself_or_a_player():
    names.check_opponent("self", "tic_tac_toe")
    names.check_opponent("mcts:9", "tic_tac_toe")
    with pytest.raises(PlayerError, match="self: no such file"):
        names.read_name("self", "tic_tac_toe")
    with pytest.raises(PlayerError, match="needs an enumerable game: tic_tac_toe"):
        names.check_opponent("minimax", "othello")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("minmax", "; did you mean minimax?"),
        ("shipped:networks", "; did you mean shipped:network?"),
        ("random:1", ""),
    ],
)
def test_a_misspelt_player_is_named(name, hint):
    with pytest.raises(PlayerError) as error:
        names.read_name(name, "tic_tac_toe")
    assert str(error.value).splitlines()[0].endswith(f"no known player{hint}")


def test_a_path_is_compared_with_those_beside_it(tmp_path):
    (tmp_path / "run-1").mkdir()
    with pytest.raises(PlayerError) as error:
        names.read_name(f"{tmp_path}/runn-1", "tic_tac_toe")
    path = f"{tmp_path}/run-1"
    assert str(error.value).endswith(f"no such file or folder; did you mean {path}?")
    with pytest.raises(PlayerError, match=r"agent\.safetensors: no such file$"):
        names.read_name(path, "tic_tac_toe")
    with pytest.raises(PlayerError, match=r"no such file or folder$"):
        names.read_name(f"{tmp_path}/none/x", "tic_tac_toe")


@pytest.mark.parametrize("command", ["arena", "play", "evaluate"])
def test_the_help_tells_the_shipped_agents_apart_and_names_their_games(command, capsys):
    assert commands.run(commands.module_of(command), ["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    texts = {}
    for name, path in ALL.items():
        (texts[name],) = (line for line in lines if f" shipped:{name}: " in line)
        words = re.findall(r"\w+", texts[name].partition(f"{name}: ")[2])
        assert agent_file.read_env_id(path) in words
    assert len({text.partition(": ")[2] for text in texts.values()}) == len(ALL)
