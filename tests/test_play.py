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
from jax_ttt.config import player_kinds

PROMPT = "(? for help): "
ROOT = str(Path(str(play.__file__)).parents[1])


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("play") / "runs" / "old"
    return tiny.save_untrained(folder / "agent.safetensors")


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that plays with these lines and returns the output.

    Each word of the input is a line. The exit code must be 0, and stderr empty.
    """

    def run(words, *argv):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(words.split())))
        code = commands.run(play, [str(arg) for arg in argv])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    return run


def test_the_command_plays_the_newest_run(agent_path, monkeypatch, run):
    newer = agent_path.parent.parent / "new" / agent_path.name
    newer.parent.mkdir()
    newer.write_bytes(agent_path.read_bytes())
    os.utime(agent_path, (0, 0))
    monkeypatch.chdir(agent_path.parent.parent.parent)
    path = os.path.join("runs", "new")
    first, rest = run("q", "--side", "o").split("\n", 1)
    assert first == f"the newest run: {path}"
    assert rest.startswith(f"tic_tac_toe against {path}: you are O\n{path} (X) plays ")
    assert rest.endswith("left after 1 move: nobody wins\n")


@pytest.mark.slow
def test_without_a_run_a_shipped_agent_of_the_default_game_plays(
    tmp_path, monkeypatch, run, capsys
):
    monkeypatch.chdir(tmp_path)
    out = run("4 v")
    assert out.startswith("tic_tac_toe against shipped:network: you are X\n")
    assert "best play" in out
    assert "the agent" in out
    assert commands.run(play, ["--env-id", "connect_four"]) == 2
    message = "error: no agent below runs/: train one, or name another folder\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("beginner", "Beginner: 70 % random moves, else the learned agent's"),
        ("casual", "Casual: 35 % random moves, else the learned agent's"),
        ("expert", "Expert (perfect play): exact play, where the game is solved"),
    ],
)
def test_a_level_names_the_opponent_and_shows_the_agents_values(
    level, text, agent_path, run
):
    out = run("v", agent_path, "--level", level, "--side", "o")
    first, second, third, *_ = out.splitlines()
    assert first == f"{text} ({agent_path})"
    assert second == f"tic_tac_toe against {level}: you are O"
    assert third.startswith(f"{level} (X) plays ")
    assert "best play" in out
    assert re.search(r"[+-]0\.\d{3} ", out)


@pytest.mark.slow
def test_the_agents_values_decide_where_there_are_no_exact_ones(tmp_path, run, capsys):
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id="connect_four")
    out = run("3 h v r", path)
    assert re.search(r"hint: \d, which the agent values most \([+-]0\.\d+\); this", out)
    assert re.search(r"move +the agent\n +\d +[+-]0\.\d+\n", out)
    assert "no review: connect_four is too large for exact values" in out
    assert commands.run(play, [str(path), "--level", "expert"]) == 2
    assert "minimax: needs an enumerable game" in capsys.readouterr().err


def test_full_strength_is_the_player_itself(agent_path, run):
    argv = [agent_path, "--side", "o", "--seed", "1"]
    assert run("4 q", *argv, "--level", "full") == run("4 q", *argv)


def test_a_wrong_level_is_refused_with_the_levels_in_order(capsys):
    assert commands.run(play, ["--level", "hard"]) == 2
    message = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "hard" in message
    assert "None" not in message
    places = [message.index(level) for level in player_kinds.LEVELS]
    assert places == sorted(places), message


def test_a_random_side_is_drawn_for_each_game(run):
    argv = ["random", "--side", "random", "--seed", "1"]
    out = run("n " * 20, *argv)
    sides = re.findall(r"you are (.)", out)
    assert len(sides) == 21
    assert set(sides) == {"X", "O"}
    assert run("n " * 20, *argv) == out
    outs = {run("n " * 20, *argv[:-2]) for _ in range(2)}
    assert len(outs) == 2, "without a seed, games differ"


def test_the_only_seat_that_an_agent_learned_is_shown(one_seat, run):
    out = run("q", one_seat, "--side", "second")
    assert ": you are O\n" in out
    assert f"({one_seat} learned to move first only, as X)" in out


def test_an_interrupt_ends_the_command(monkeypatch, capsys):
    class Interrupted(io.StringIO):
        def readline(self, size=-1):
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Interrupted())
    assert commands.run(play, ["random"]) == 130
    out, err = capsys.readouterr()
    assert out.endswith("\nleft after 0 moves: nobody wins\n")
    assert err == ""


def read_until(terminal, text):
    """Read what is written to a terminal until it has this text, or is closed."""
    written = ""
    while text not in written:
        try:
            written += os.read(terminal, 4096).decode()
        except OSError:
            return written
    return written


@pytest.mark.slow
def test_in_a_terminal_ctrl_c_ends_the_game_politely(tmp_path):
    """As a person types it: the terminal turns it into a signal."""
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    person, process_end = pty.openpty()
    # The kernel sends the signal to the session's leader, which must own the terminal.
    name = os.ttyname(process_end)
    shell = f'exec 0<>{name} 1>&0 2>&0; exec "$0" -m jax_ttt.play "$1"'
    process = subprocess.Popen(
        ["sh", "-c", shell, sys.executable, "minimax-first"],
        start_new_session=True,
        cwd=tmp_path,
        env=environ | {"PYTHONPATH": ROOT, "TERM": "xterm"},
    )
    try:
        assert "\x1b[2m4\x1b[0m" in read_until(person, PROMPT), "a coloured board"
        os.write(person, b"4\n")
        assert "minimax-first (O) plays 0" in read_until(person, PROMPT)
        for _ in range(20):  # a signal between prompt and reading waits for the next
            os.write(person, b"\x03")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=3)
                break
        assert process.poll() == 130
        os.close(process_end)
        rest = read_until(person, "nobody wins").replace("\r", "")
        assert rest.rstrip().endswith("\nleft after 2 moves: nobody wins")
        assert "Traceback" not in rest
    finally:
        process.kill()
        process.wait()
        os.close(person)
