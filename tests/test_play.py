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

from jax_ttt import play

PROMPT = "(? for help): "
ROOT = str(Path(str(play.__file__)).parents[1])


@pytest.fixture
def run(monkeypatch):
    """Return a function that plays with these lines and returns the output.

    Each word of the input is a line. The exit code must be 0, and stderr empty.
    """

    def run(words, *argv):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(words.split())))
        out, err = commands.run(play, *argv)
        assert err == ""
        return out

    return run


def test_a_random_side_is_drawn_for_each_game(run):
    argv = ["random", "--side", "random", "--seed", "1"]
    out = run("n " * 20, *argv)
    sides = re.findall(r"you are (.)", out)
    assert len(sides) == 21
    assert set(sides) == {"X", "O"}
    assert run("n " * 20, *argv) == out
    outs = {run("n " * 20, *argv[:-2]) for _ in range(2)}
    assert len(outs) == 2, "without a seed, games differ"


def test_an_interrupt_ends_the_command(monkeypatch):
    class Interrupted(io.StringIO):
        def readline(self, size=-1):
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Interrupted())
    out, err = commands.run(play, "random", code=130)
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
