"""Games in text against players, by scripted people; and the command `play`."""

import io
import os

import jax
import pytest

from jax_ttt import play
from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.settings import Config
from jax_ttt.envs import pgx_games, positions
from jax_ttt.networks import q_network
from jax_ttt.players import agents, names, players, registry, session
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of

QUESTION = "(v for the values, u to undo, q to quit): "


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("play") / "runs" / "old" / "agent.safetensors"
    path.parent.mkdir(parents=True)
    config = Config(hidden_size=8)
    params = q_network.init_params(network_of(config), jax.random.key(0))
    agents.save(Agent(config, params, 0, 0, {}), path)
    return path


def entrant(name, env_id: EnvId = "tic_tac_toe"):
    return registry.enter(names.read(name, env_id), env_id, jax.random.key(0))


def script(words, asked):
    """Return an `ask` that types these words, and then nothing more."""
    words = iter(words)

    def ask(prompt):
        asked.append(prompt)
        for word in words:
            return word
        raise EOFError

    return ask


def game(opponent, words, as_first=True, env_id: EnvId = "tic_tac_toe"):
    """Play; return the result, what was asked, and what was said."""
    asked, said = [], []
    ask, key = script(words, asked), jax.random.key(0)
    if isinstance(opponent, str):
        opponent = entrant(opponent, env_id)
    result = session.play(opponent, env_id, as_first, key, ask, said.append)
    return result, asked, said


@pytest.fixture(scope="module")
def row_by_row(host_tree):
    """Return who plays the first free cell: easily beaten."""
    legal = host_tree.legal_action_mask
    probs = (legal & (legal.cumsum(axis=1) == 1)).astype(float)
    player = players.policy_player(positions.index("tic_tac_toe"), probs)
    return registry.Entrant("row by row", player, probs)


def test_a_person_beats_who_can_be_beaten(row_by_row):
    result, asked, said = game(row_by_row, "462")
    assert result == "you win: X (you) v O (row by row)"
    assert asked[0] == f"legal moves: 0 1 2 3 4 5 6 7 8\nX {QUESTION}"
    assert asked[1] == f"legal moves: 1 2 3 5 6 7 8\nX {QUESTION}"
    assert said[:2] == ["  0 1 2\n  3 4 5\n  6 7 8", "row by row (O) plays 0"]
    assert said[2] == "  O 1 2\n  3 X 5\n  6 7 8"
    assert said[-1] == "  O O X\n  . X .\n  X . ."


def test_a_person_loses_and_draws():
    result, _, said = game("minimax-first", "182", as_first=False)
    assert said[0] == "minimax-first (X) plays 0"
    assert result == "you lose: O (you) v X (minimax-first)"
    result, *_ = game("minimax-first", "42378")
    assert result == "a draw: X (you) v O (minimax-first)"


def test_what_is_no_move_is_asked_again(row_by_row):
    wrong = ["", "9", "-1", "x", "4 4", "²", "1" * 99]
    result, asked, said = game(row_by_row, [*wrong, " 4 ", "0", "V", "6", "2"])
    assert result.startswith("you win")
    assert said[1].startswith("'' is none of them: type a legal move, v for")
    assert len([line for line in said if "none of them" in line]) == len(wrong) + 1
    assert asked[: len(wrong) + 1] == asked[:1] * (len(wrong) + 1)


def test_a_move_is_undone(row_by_row):
    result, asked, said = game(row_by_row, "u48uu482uuu462")
    assert result == "you win: X (you) v O (row by row)"
    assert asked[0] == asked[1] == asked[5]
    assert said.count("  0 1 2\n  3 4 5\n  6 7 8") == 4


def test_the_input_ends():
    assert game("minimax", "")[0] == "left after 0 moves: nobody wins"
    assert game("minimax-first", "4")[0] == "left after 2 moves: nobody wins"
    assert game("minimax-first", "4q8")[0] == "left after 2 moves: nobody wins"


def test_values_are_shown_best_first(agent_path):
    said = game("minimax-first", "v", as_first=False)[2]
    table = said[2].splitlines()
    assert table[0].split() == ["move", "best", "play"]
    assert table[1].split() == ["4", "draws"]
    assert [line.split() for line in table[2:]] == [
        [str(move), "loses"] for move in (1, 2, 3, 5, 6, 7, 8)
    ]
    table = game(str(agent_path), "v")[2][1].splitlines()
    assert table[0].split() == ["move", "best", "play", "the", "agent"]
    told = [float(line.split()[2]) for line in table[1:]]
    assert sorted(told, reverse=True) == told
    assert len(told) == 9
    assert {line.split()[1] for line in table[1:]} == {"draws"}


def test_stones_fall_in_columns():
    _, asked, said = game("random", "33v", env_id="connect_four")
    assert asked[0].startswith("legal moves: 0 1 2 3 4 5 6\nX (")
    rows = said[0].splitlines()
    assert rows == ["  . . . . . . ."] * 6 + ["  0 1 2 3 4 5 6"]
    assert said[2].count("X") == said[2].count("O") == 1
    assert said[-2] == "random has no values to show"


@pytest.mark.parametrize(
    ("env_id", "size"),
    [
        ("othello", 8),
        pytest.param("hex", 11, marks=pytest.mark.slow),
        pytest.param("go_9x9", 9, marks=pytest.mark.slow),
    ],
)
def test_every_board_of_stones_is_drawn(env_id, size):
    state = pgx_games.init(pgx_games.make(env_id), jax.random.key(0), 1)
    first = int(state.current_player[0])
    rows = session.board(env_id, state, first).splitlines()
    assert [len(row.split()) for row in rows] == [size] * size
    swapped = session.board(env_id, state, 1 - first)
    assert swapped == "\n".join(rows).translate(str.maketrans("XO", "OX"))


def command(argv, words, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(words)))
    code = play.main([str(arg) for arg in argv])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_plays_the_newest_run(agent_path, monkeypatch, capsys):
    newer = agent_path.parent.parent / "new" / agent_path.name
    newer.parent.mkdir()
    newer.write_bytes(agent_path.read_bytes())
    os.utime(agent_path, (0, 0))
    monkeypatch.chdir(agent_path.parent.parent.parent)
    flags = ["--side", "o"]
    code, out, err = command(flags, "q", monkeypatch, capsys)
    assert (code, err) == (0, "")
    path = os.path.join("runs", "new")
    assert out.startswith(f"tic_tac_toe against {path}: you are O\n{path} (X) plays ")
    assert out.endswith("left after 1 moves: nobody wins\n")


def test_who_learned_one_seat_says_so(tmp_path, monkeypatch, capsys):
    config = Config(hidden_size=8, opponent="random", seat="first")
    params = q_network.init_params(network_of(config), jax.random.key(0))
    path = tmp_path / "agent.safetensors"
    agents.save(Agent(config, params, 0, 0, {}), path)
    for side in ("x", "o"):
        _, out, _ = command([str(path), "--side", side], "q", monkeypatch, capsys)
        assert f"({path} learned to move first only, as X)" in out


def test_the_command_refuses(agent_path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = command([], "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert err == "error: no agent below runs/: train one, or name a player\n"
    code, out, err = command(["nobody"], "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "no known player" in err
    argv = [agent_path, "--env-id", "connect_four"]
    code, out, err = command(argv, "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "made for tic_tac_toe, asked for connect_four" in err


def test_the_game_of_a_blend_is_its_agents(tmp_path, monkeypatch, capsys):
    config = Config(env_id="connect_four", hidden_size=8)
    params = q_network.init_params(network_of(config), jax.random.key(0))
    path = tmp_path / "agent.safetensors"
    agents.save(Agent(config, params, 0, 0, {}), path)
    code, out, _ = command([f"blend:0.5:{path}"], "q", monkeypatch, capsys)
    assert code == 0
    assert out.startswith(f"connect_four against blend:0.5:{path}: you are X\n")


def test_an_interrupt_ends_the_command(monkeypatch, capsys):
    class Interrupted(io.StringIO):
        def readline(self, size=-1):
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Interrupted())
    assert play.main(["random"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"
