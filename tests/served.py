"""Servers for tests, and a client that sends bytes as they are given."""

import asyncio
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
from typing import Any, NamedTuple

import rules

from jax_ttt.serving import server as servers
from jax_ttt.serving.checks import Checked

ROOT = Path(__file__).parents[1]


class Training:
    """Live training of which a test sets what it shows."""

    def __init__(self):
        self.learned, self.commands, self.settings = [], [], []
        self.shown = {"positions_learned": None, "history": [], "run": 0}
        self.trained: Any = None
        self.boxes = []
        self.closed = False

    def command(self, name, learner=None):
        self.commands.append((name, learner))

    def change(self, settings):
        self.settings.append(settings)

    def status(self) -> Any:
        return dict(self.shown)

    def subscribe(self):
        from jax_ttt.live.mailbox import Mailbox

        self.boxes.append(Mailbox())
        return self.boxes[-1]

    def unsubscribe(self, box):
        self.boxes.remove(box)

    def agent(self, update=None):
        return self.trained if update is None else None

    def learn_game(self, moves):
        self.learned.append(tuple(moves))

    def close(self):
        self.closed = True


class Reply(NamedTuple):
    """What an application answers."""

    status_code: int
    headers: dict
    content: bytes
    path: str

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


class Client:
    """Asks an application without a socket; close it after use."""

    def __init__(self, app, host="127.0.0.1:8000"):
        self.app, self.host = app, host
        self.runner = asyncio.Runner()

    def request(self, method, url, headers=None, content=None, **body):
        """Send a request, with `json=` as its body if given."""
        about = {"host": self.host}
        if "json" in body:
            content = json.dumps(body["json"]).encode()
            about["content-type"] = "application/json"
        if content is not None:
            about["content-length"] = str(len(content))
        about |= headers or {}
        return self.runner.run(self._asked(method, url, about, content or b""))

    async def _asked(self, method, url, headers, content):
        raw, _, query = url.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": urllib.parse.unquote(raw),
            "raw_path": raw.encode(),
            "query_string": query.encode(),
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in headers.items()],
        }
        sent = []

        async def receive():
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        about = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        parts = b"".join(message.get("body", b"") for message in sent[1:])
        return Reply(sent[0]["status"], about, parts, scope["path"])

    def get(self, url, **more):
        return self.request("GET", url, **more)

    def post(self, url, **more):
        return self.request("POST", url, **more)

    def patch(self, url, **more):
        return self.request("PATCH", url, **more)

    def delete(self, url, **more):
        return self.request("DELETE", url, **more)

    def close(self):
        self.runner.close()


@contextlib.contextmanager
def serving(app, ending=lambda: None, large=(), **checks):
    """Serve an application, with all checks, in a thread; yield its port."""
    bound = servers.listening("127.0.0.1", 0)
    port = bound.getsockname()[1]
    server = servers.Server(Checked(app, port, **checks), ending, large)
    thread = threading.Thread(target=servers.serve, args=(server, bound), daemon=True)
    thread.start()
    try:
        yield port
    finally:
        server.stop()
        thread.join(10)
        bound.close()
    assert not thread.is_alive()


def exchange(port, request, timeout=5.0):
    """Send bytes on a connection of their own; return all that comes back.

    The reply may come before everything is sent.
    """
    with socket.create_connection(("127.0.0.1", port), timeout) as client:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(request)
        found = b""
        while part := client.recv(65536):
            found += part
    return found


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


def request(port, method="GET", path="/", body=None, **headers):
    """Return a request as bytes; a header given as None is left out."""
    about = {"Host": f"127.0.0.1:{port}"}
    if body is not None:
        body = body if isinstance(body, bytes) else body.encode()
        about |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    about |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in about.items() if value is not None]
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines]) + "\r\n\r\n"
    return head.encode("latin-1") + (body or b"")


@contextlib.contextmanager
def command(*flags, folder):
    """Run the command in a process of its own; yield it and its port."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jax_ttt.web", *flags),
            *("--data-dir", str(folder / "data"), "--runs", str(folder / "runs")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r":(\d+)/", line)
        assert found, (line, process.stderr and process.stderr.read())
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


def wait_until(happened, seconds=30.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def board_after(moves):
    """Return the board after moves, each of which must be legal by the rules."""
    board = "-" * 9
    for move in moves:
        assert move in rules.moves(board), (moves, board)
        board = rules.after(board, move)
    return board


def check_game(game):
    """Check a game as the server sends it against the rules."""
    board = board_after(game["moves"])
    letter = game["side"].upper()
    if rules.moves(board):
        assert game["result"] is None
        assert game["to_move"] == rules.mover(board).lower() == game["side"]
    else:
        won = rules.winner(board)
        result = "drawn" if won is None else "won" if won == letter else "lost"
        assert (game["to_move"], game["result"]) == (None, result)
    return board
