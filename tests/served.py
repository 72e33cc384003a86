"""Servers for tests, and bytes over sockets."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
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


def exchange(port, request, timeout=60.0):
    """Send bytes on a connection of their own; return all that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout) as client:
        reply = b""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(request)
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(65536):
                reply += part
    return reply


def status_of(reply):
    """Return the status of a reply."""
    return int(reply.split(b" ", 2)[1])


def headers_of(reply):
    """Return the headers of a reply, by name in small letters."""
    head = reply.partition(b"\r\n\r\n")[0].decode("latin-1")
    pairs = (line.partition(":") for line in head.split("\r\n")[1:])
    return {name.lower(): value.strip() for name, _, value in pairs}


def body_of(reply):
    """Return the body of a reply."""
    return reply.partition(b"\r\n\r\n")[2]


def request(port, method="GET", path="/", **headers):
    """Return a request as bytes; a header given as None is left out."""
    every = {"Host": f"127.0.0.1:{port}", "Connection": "close"}
    every |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in every.items() if value is not None]
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines]) + "\r\n\r\n"
    return head.encode("latin-1")


@contextlib.contextmanager
def opened_stream(port, run):
    """Yield a function that returns the next message of a run's events."""
    path = f"/api/runs/events?{urllib.parse.urlencode({'run': run})}"
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(request(port, path=path))
        with client.makefile("rb") as lines:
            head = [*iter(lines.readline, b"\r\n")]
            assert b"content-type: text/event-stream; charset=utf-8\r\n" in head
            messages = (line[6:] for line in lines if line.startswith(b"data: "))
            yield lambda: json.loads(next(messages))


@contextlib.contextmanager
def command(*flags, folder, program=("-m", "jax_ttt.web")):
    """Run the command in a process of its own; yield it and its port."""
    process = subprocess.Popen(
        [
            sys.executable,
            *program,
            *flags,
            "--runs",
            str(folder / "runs"),
        ],
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
