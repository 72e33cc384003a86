"""Servers for tests, and requests to them."""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

from jax_ttt.web import __main__ as web

ROOT = Path(__file__).parents[1]


@contextlib.contextmanager
def serving(app, **limits):
    """Serve an application, with the command's limits, in a thread; yield its port."""
    server = web.make_server(app, **limits)
    with web.open_socket("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join(60)
    assert not thread.is_alive()


def get(port, path="/", **headers):
    """Return the status, the headers by name in small letters, and the body."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=60)) as client:
        client.request("GET", path, headers=headers)
        reply = client.getresponse()
        named = {name.lower(): value for name, value in reply.getheaders()}
        return reply.status, named, reply.read()


@contextlib.contextmanager
def opened_stream(port, run):
    """Yield a function that returns the next message of a run's events."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=60)) as client:
        client.request("GET", f"/api/runs/events?run={run}")
        reply = client.getresponse()
        assert reply.getheader("content-type") == "text/event-stream; charset=utf-8"
        messages = (line[6:] for line in reply if line.startswith(b"data: "))
        yield lambda: json.loads(next(messages))


@contextlib.contextmanager
def command(*flags, folder, program=("-m", "jax_ttt.web")):
    """Run the command in a process of its own; yield it and its port."""
    process = subprocess.Popen(
        [sys.executable, *program, *flags, "--runs", str(folder / "runs")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r":(\d+)/", line)
        assert address, (line, process.stderr and process.stderr.read())
        yield process, int(address[1])
    finally:
        process.kill()
        process.communicate()


def wait_until(happened, seconds=120.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)
