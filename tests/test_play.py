"""The command `play`."""

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import commands
import pytest
import tiny

from jax_ttt import play
from jax_ttt.players.shipped import SHIPPED

PROMPT = "(? for help): "
ROOT = str(Path(str(play.__file__)).parents[1])


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("play") / "runs" / "old"
    return tiny.save_untrained(folder / "agent.safetensors")


@pytest.fixture(scope="module")
def connect_four(tmp_path_factory):
    """Return the file of an agent for Connect Four."""
    path = tmp_path_factory.mktemp("four") / "agent.safetensors"
    return tiny.save_untrained(path, env_id="connect_four")


def command(argv, words, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(words)))
    code = commands.run(play, [str(arg) for arg in argv])
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


def test_without_a_run_a_shipped_agent_plays(tmp_path, monkeypatch, capsys):
    assert f"shipped:{next(iter(SHIPPED))}" == play.DEFAULT_OPPONENT
    monkeypatch.chdir(tmp_path)
    code, out, err = command([], ["4", "v"], monkeypatch, capsys)
    assert (code, err) == (0, "")
    assert out.startswith("tic_tac_toe against shipped:network: you are X\n")
    assert "best play" in out
    assert "the agent" in out


def test_no_agent_is_shipped_for_another_game(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = command(["--env-id", "connect_four"], "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert err == "error: no agent below runs/: train one, or name another folder\n"


def test_a_level_names_the_opponent_and_shows_the_agents_values(
    agent_path, monkeypatch, capsys
):
    for level, about in (
        ("beginner", "70 % random moves, else the learned agent's"),
        ("medium", "the learned agent"),
        ("expert", "best play, in enumerable games"),
    ):
        argv = [agent_path, "--level", level, "--side", "o"]
        code, out, err = command(argv, "v", monkeypatch, capsys)
        assert (code, err) == (0, "")
        first, second, third, *_ = out.splitlines()
        assert first == f"{level}: {about} ({agent_path})"
        assert second == f"tic_tac_toe against {level}: you are O"
        assert third.startswith(f"{level} (X) plays ")
        assert "best play" in out
        assert "the agent" in out
        assert re.search(r"[+-]0\.\d{3} ", out)


def test_an_expert_needs_a_game_with_exact_values(connect_four, monkeypatch, capsys):
    argv = [connect_four, "--level", "expert"]
    code, out, err = command(argv, "q", monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert err == "error: minimax: needs an enumerable game: tic_tac_toe\n"


def test_the_agents_values_decide_where_there_are_no_exact_ones(
    connect_four, monkeypatch, capsys
):
    code, out, _ = command([connect_four], ["3", "h", "v", "r"], monkeypatch, capsys)
    assert code == 0
    assert re.search(r"hint: \d, which the agent values most \([+-]0\.\d+\); this", out)
    assert re.search(r"move +the agent\n +\d +[+-]0\.\d+\n", out)
    assert "no review: connect_four is too large for exact values" in out


def test_a_random_side_is_drawn_for_each_game(monkeypatch, capsys):
    argv = ["random", "--side", "random", "--seed", "1"]
    _, out, _ = command(argv, ["n"] * 20, monkeypatch, capsys)
    sides = re.findall(r"you are (.)", out)
    assert len(sides) == 21
    assert set(sides) == {"X", "O"}
    again = command(argv, ["n"] * 20, monkeypatch, capsys)[1]
    assert again == out


def test_without_a_seed_games_differ(monkeypatch, capsys):
    argv = ["random", "--side", "o"]
    outs = {command(argv, "n" * 20, monkeypatch, capsys)[1] for _ in range(2)}
    assert len(outs) == 2


def test_who_learned_one_seat_says_so(tmp_path, monkeypatch, capsys):
    path = tmp_path / "agent.safetensors"
    tiny.save_untrained(path, opponent="random", seat="first")
    for side, letter in (("x", "X"), ("second", "O")):
        _, out, _ = command([str(path), "--side", side], "q", monkeypatch, capsys)
        assert f": you are {letter}\n" in out
        assert f"({path} learned to move first only, as X)" in out


def test_an_interrupt_ends_the_command(monkeypatch, capsys):
    class Interrupted(io.StringIO):
        def readline(self, size=-1):
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Interrupted())
    assert commands.run(play, ["random"]) == 130
    out, err = capsys.readouterr()
    assert out.endswith("\nleft after 0 moves: nobody wins\n")
    assert err == ""


def until(terminal, text):
    """Read what is written to a terminal until it has this text, or is closed."""
    read = ""
    while text not in read:
        try:
            read += os.read(terminal, 4096).decode()
        except OSError:
            return read
    return read


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "code"), [("\x03", 130), ("\x04", 0)])
def test_in_a_terminal_ctrl_c_and_ctrl_d_end_politely(typed, code, tmp_path):
    """As a person types them: the terminal turns Ctrl-C into a signal."""
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    ours, its = pty.openpty()
    # The kernel sends the signal to the session's leader, which must own the terminal.
    shell = f'exec 0<>{os.ttyname(its)} 1>&0 2>&0; exec "$0" -m jax_ttt.play "$1"'
    process = subprocess.Popen(
        ["sh", "-c", shell, sys.executable, "minimax-first"],
        start_new_session=True,
        cwd=tmp_path,
        env=environ | {"PYTHONPATH": ROOT, "TERM": "xterm"},
    )
    try:
        assert "\x1b[2m4\x1b[0m" in until(ours, PROMPT), "a coloured board"
        os.write(ours, b"4\n")
        assert "minimax-first (O) plays 0" in until(ours, PROMPT)
        for _ in range(20):  # a signal between prompt and reading waits for the next
            os.write(ours, typed.encode())
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=3)
                break
        assert process.poll() == code
        os.close(its)
        left = until(ours, "nobody wins").replace("\r", "")
        assert left.rstrip().endswith("\nleft after 2 moves: nobody wins")
        assert "Traceback" not in left
    finally:
        process.kill()
        process.wait()
        os.close(ours)
