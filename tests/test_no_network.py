"""The commands reach no network: what Python asks for, and what the system sees."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

import jax_ttt
from jax_ttt import evaluate
from jax_ttt.train import main as train

ROOT = Path(jax_ttt.__file__).parents[1]
ASKS = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname")
HOOK = f"""
import os, runpy, sys
def heard(event, args):
    if event in {ASKS}:
        os.write(2, f"dialled {{event}} {{args[-1]}}\\n".encode())
sys.addaudithook(heard)
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
HEARD: list[str] = []
LISTENING: list[bool] = []


def heard(event, args):
    if LISTENING and event in ASKS:
        HEARD.append(f"{event} {args[-1]}")


@pytest.fixture
def dialled():
    """Return what is dialled during a test. A hook can't be removed, so it has one."""
    if not HEARD and "added" not in vars(heard):
        sys.addaudithook(heard)
        vars(heard)["added"] = True
    LISTENING.append(True)
    yield HEARD
    LISTENING.clear()
    HEARD.clear()


def test_the_hook_hears_a_connection(dialled):
    with socket.socket() as client, pytest.raises(OSError, match=r"."):
        client.connect(("127.0.0.1", 1))
    assert dialled == ["socket.connect ('127.0.0.1', 1)"]


@pytest.mark.slow
@pytest.mark.fault
def test_training_and_evaluating_dial_nowhere(dialled, tmp_path):
    run = str(tmp_path / "run")
    assert train([*tiny.flags(), "--quiet", "--run-dir", run]) == 0
    assert evaluate.main([run, "--json"]) == 0
    assert dialled == []


def commands(folder):
    """Return a training and its evaluation, as modules with flags."""
    run = str(folder / "run")
    return (
        ["jax_ttt.train", *tiny.flags(), "--quiet", "--run-dir", run],
        ["jax_ttt.evaluate", run, "--json"],
    )


def run_command(before, module, flags):
    """Run a command in a process; return its stderr."""
    done = subprocess.run(
        [*before, module, *flags],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
@pytest.mark.fault
def test_whole_processes_dial_nowhere(tmp_path):
    for module, *flags in commands(tmp_path):
        assert run_command([sys.executable, "-c", HOOK], module, flags) == ""
