"""The commands reach no network."""

import shlex

import as_users
import pytest
import tiny

HOOK = """
import os, runpy, shlex, socket, sys
EVENTS = "socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"
def report(event, args):
    if event in EVENTS:
        os.write(2, f"{event} {args[-1]}\\n".encode())
sys.addaudithook(report)
for line in sys.argv[1:]:
    sys.argv = shlex.split(line)
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        assert not end.code
socket.socket().connect_ex(("127.0.0.1", 1))
"""


@pytest.mark.slow
@pytest.mark.fault
def test_training_and_evaluating_connect_to_nothing(tmp_path):
    """The last line shows that a connection would be reported."""
    lines = [
        shlex.join(["jax_ttt.train", *tiny.flags(), "--quiet", "--run-dir", "run"]),
        "jax_ttt.evaluate run --json",
    ]
    done = as_users.run_python("-W", "ignore", "-c", HOOK, *lines, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.err == "socket.connect ('127.0.0.1', 1)\n"
    assert '"num_updates": 4' in done.out
