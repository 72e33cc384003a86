"""The commands reach no network."""

import os
import subprocess
import sys

import as_users
import pytest
import tiny

HOOK = """
import os, runpy, sys
EVENTS = "socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"
def report(event, args):
    if event in EVENTS:
        os.write(2, f"{event} {args[-1]}\\n".encode())
sys.addaudithook(report)
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def connections(folder, *words):
    """Run a module in a process that reports its connections on stderr; return them."""
    done = subprocess.run(
        [sys.executable, "-c", HOOK, *words],
        env=as_users.environment(PYTHONPATH=f"{as_users.ROOT}{os.pathsep}{folder}"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
@pytest.mark.fault
def test_training_and_evaluating_connect_to_nothing(tmp_path):
    code = "import socket; socket.socket().connect_ex(('127.0.0.1', 1))"
    (tmp_path / "connects.py").write_text(code)
    line = "socket.connect ('127.0.0.1', 1)\n"
    assert connections(tmp_path, "connects") == line
    run = str(tmp_path / "run")
    flags = [*tiny.flags(), "--quiet", "--run-dir", run]
    assert connections(tmp_path, "jax_ttt.train", *flags) == ""
    assert connections(tmp_path, "jax_ttt.evaluate", run, "--json") == ""
