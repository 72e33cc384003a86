"""Commands whose stdin, stdout or stderr is closed or full."""

import json
import subprocess
import sys
import time
from pathlib import Path

import as_users
import commands
import pytest
import tiny

from jax_ttt import play
from jax_ttt.players import saved_agents
from jax_ttt.runtime import standard_streams


def run_redirected(command, redirections):
    """Run a command in a process, its streams redirected by the shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" {command} {redirections}', sys.executable],
        capture_output=True,
        text=True,
        env=as_users.environment(JAX_DISABLE_MOST_OPTIMIZATIONS=1),
    )


@pytest.mark.fault
@pytest.mark.slow
def test_a_run_without_streams_trains_and_saves_its_agent(tmp_path):
    path = tmp_path / "run"
    flags = " ".join([*tiny.flags(), "--run-dir", str(path)])
    done = run_redirected(f"-m jax_ttt.train {flags}", ">&- 2>&- <&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert saved_agents.load_agent(path).num_updates == 4
    # No file got the descriptor of a closed stream, so all contents are correct.
    json.loads((path / "config.json").read_text())
    for line in (path / "metrics.jsonl").read_text().splitlines():
        json.loads(line)


@pytest.mark.fault
def test_a_command_without_stdin_reads_nothing(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    printed = commands.run(play, "random")
    assert printed.out.endswith("left after 0 moves: nobody wins\n")
    sys.stdin.close()


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_stdout_or_stderr_gives_no_traceback():
    done = run_redirected("-m jax_ttt.train --version", ">/dev/full")
    assert done.returncode == 1
    assert done.stderr == "error: cannot write: No space left on device\n"
    assert run_redirected("-m jax_ttt.runs nowhere", "2>/dev/full").returncode == 2


@pytest.mark.fault
def test_without_stderr_no_file_gets_its_descriptor_and_an_error_is_not_on_stdout():
    program = """
import os, sys
from jax_ttt import cli, runs
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import Refused
def main(args):
    assert os.open(os.devnull, os.O_RDONLY) > 2
    raise Refused("wrong")
sys.exit(run_command(cli.Command("jax_ttt.runs", runs.Args, main), []))
"""
    command = ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, program]
    done = subprocess.run(
        command, capture_output=True, text=True, env=as_users.environment()
    )
    assert (done.returncode, done.stdout) == (2, "")


def test_a_bar_in_a_pipe_changes_rarely(capsys):
    """At its beginning, each five seconds, and at its end."""
    with standard_streams.updates_bar(30, shown=True) as bar:
        for number in range(1, 31):
            standard_streams.show_updates(bar, number)
            time.sleep(0.02)
    shown = capsys.readouterr().err.split("\r")
    assert " 0/30 " in shown[1]
    assert " 30/30 " in shown[-1]
    assert len(shown) <= 3
