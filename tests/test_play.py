"""The command `play`."""

import io
import os

import pytest
import tiny

from jax_ttt import play


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("play") / "runs" / "old"
    return tiny.save_untrained(folder / "agent.safetensors")


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
    first, rest = out.split("\n", 1)
    assert first == f"the newest run: {path}"
    assert rest.startswith(f"tic_tac_toe against {path}: you are O\n{path} (X) plays ")
    assert out.endswith("left after 1 move: nobody wins\n")


def test_who_learned_one_seat_says_so(tmp_path, monkeypatch, capsys):
    path = tmp_path / "agent.safetensors"
    tiny.save_untrained(path, opponent="random", seat="first")
    for side, letter in (("x", "X"), ("o", "O"), ("first", "X"), ("second", "O")):
        _, out, _ = command([str(path), "--side", side], "q", monkeypatch, capsys)
        assert f": you are {letter}\n" in out
        assert f"({path} learned to move first only, as X)" in out


def test_the_command_refuses(agent_path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = command([], "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert err == "error: no agent below runs/: train one, or name another folder\n"
    code, out, err = command(["nobody"], "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "no known player" in err
    argv = [agent_path, "--env-id", "connect_four"]
    code, out, err = command(argv, "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "made for tic_tac_toe, not for connect_four" in err


def test_the_game_of_a_blend_is_its_agents(tmp_path, monkeypatch, capsys):
    path = tmp_path / "agent.safetensors"
    tiny.save_untrained(path, env_id="connect_four")
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
