"""The commands reach no network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

import jax_ttt

ROOT = Path(jax_ttt.__file__).parents[1]
HOOK = """
import os, runpy, sys
ASKS = "socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"
def heard(event, args):
    if event in ASKS:
        os.write(2, f"dialled {args[-1]}\\n".encode())
sys.addaudithook(heard)
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def heard(folder, *words):
    """Run a module in a process that tells what it dials; return its stderr."""
    done = subprocess.run(
        [sys.executable, "-c", HOOK, *words],
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
@pytest.mark.fault
def test_training_and_evaluating_dial_nowhere(tmp_path):
    dials = "import socket; socket.socket().connect_ex(('127.0.0.1', 1))"
    (tmp_path / "dials.py").write_text(dials)
    assert heard(tmp_path, "dials") == "dialled ('127.0.0.1', 1)\n"
    run = str(tmp_path / "run")
    flags = [*tiny.flags(), "--quiet", "--run-dir", run]
    assert heard(tmp_path, "jax_ttt.train", *flags) == ""
    assert heard(tmp_path, "jax_ttt.evaluate", run, "--json") == ""
