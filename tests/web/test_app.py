"""What the server answers and refuses, and the headers of its replies."""

import asyncio
import contextlib
import json
import re
import socket

import pytest
import served

from jax_ttt.web.app import MAX_BODY_BYTES, STATIC
from jax_ttt.web.training_thread import Training

API = ["/api/agents", "/api/training/events"]


def check_headers(headers):
    """Check the headers that every reply has."""
    policy = headers["content-security-policy"]
    for rule in (
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
    ):
        assert rule in policy.split("; "), rule
    assert "unsafe" not in policy
    for name, value in {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-cache",
    }.items():
        assert headers[name] == value
    assert not headers.keys() & {"server", "set-cookie"}
    assert not [name for name in headers if name.startswith("access-control")]


def test_the_page_and_all_its_files_are_sent(client):
    page = client.get("/")
    assert page.text == (STATIC / "index.html").read_text("utf-8")
    assert page.headers["content-type"].startswith("text/html")
    check_headers(page.headers)
    addresses = {*re.findall(r'(?:src|href)="(/[^"]+)"', page.text)}
    assert "/static/main.js" in addresses
    scripts = [path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js")]
    for address in addresses | {f"/static/{script}" for script in scripts}:
        reply = client.get(address)
        assert reply.status_code == 200, address
        if address.endswith(".js"):
            assert reply.headers["content-type"].startswith("text/javascript")
        check_headers(reply.headers)


@pytest.mark.fault
def test_no_file_but_the_pages_own_is_sent(port):
    for path in (
        "/../x",
        "/%2e%2e%2fapp.py",
        "//etc/passwd",
        "/static/",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..\\app.py",
        "/static/main.js%00.html",
        "/static/none.html",
        "/static/%2fetc%2fpasswd",
        "/%",
        "/index.html",
        "/static/%C0%AE%C0%AE/x",
        "/static/__init__.py",
        "/api",
        "/.git/config",
    ):
        reply = served.exchange(port, served.request(port, path=path))
        assert served.status_of(reply) in (404, 400), path
        check_headers(served.headers_of(reply))


def test_only_the_names_of_this_machine_are_answered(client):
    for host in ("127.0.0.1:8000", "LOCALHOST:1", "[::1]:8000"):
        assert client.get("/api/agents", headers={"host": host}).status_code == 200
    for host in ("evil.example:8000", "127.0.0.1.evil.example", "", "[::2]"):
        for path in ("/", "/static/main.js", *API):
            reply = client.get(path, headers={"host": host})
            assert reply.status_code == 400, (host, path)
            check_headers(reply.headers)


FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "http://127.0.0.1:8001"},  # another program of this machine
    {"origin": "null"},
    {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"},
]
"""Headers of requests of other sites' pages."""
OWN = [
    {},
    {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "none"},
    {"origin": "https://behind.a.proxy", "sec-fetch-site": "same-origin"},
]
"""Headers of requests of the page itself."""


def test_other_sites_can_neither_change_nor_read(client, training):
    for headers in FOREIGN:
        for method, path in (
            ("POST", "/api/training"),
            ("PATCH", "/api/training/settings"),
            ("POST", "/api/training/games"),
            ("DELETE", "/api/agents?agent=kept/x"),
            *(("GET", path) for path in (*API, "/static/main.js")),
        ):
            reply = client.request(method, path, headers, json={"command": "start"})
            assert reply.status_code == 403, (headers, method, path)
            check_headers(reply.headers)
    assert training.status()["status"] == "idle"
    for headers in OWN:
        change = {"headers": headers, "json": {"gamma": 0.9}}
        reply = client.patch("/api/training/settings", **change)
        assert (reply.status_code, reply.content) == (204, b"")
    # A link to the page may stand on any site.
    link = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}
    assert client.get("/", headers=link).status_code == 200
    frame = {**link, "sec-fetch-dest": "iframe"}
    assert client.get("/", headers=frame).status_code == 403


WRONG = {
    "POST /api/training": [
        "",
        "[",
        "[]",
        b"\xff",
        "{}",
        '{"a":' * 9000,
        '{"command": "jump"}',
        '{"command": ["start"]}',
        '{"command": "start", "learner": "tree"}',
        '{"command": "start", "learner": []}',
        '{"command": "start", "now": 1}',
    ],
    "PATCH /api/training/settings": [
        '{"gamma": NaN}',
        '{"gamma": 1e999}',
        '{"gamma": "1"}',
        '{"gamma": true}',
        '{"gamma": 2}',
        '{"gamma": 0.9, "tau": 0.1}',
        '{"learn_from_people": 1}',
        '{"learn_from_people": true, "gamma": 2}',
    ],
    "POST /api/training/games": [
        "{}",
        '{"moves": "0"}',
        '{"moves": [0.5]}',
        '{"moves": [true]}',
        '{"moves": [-1]}',
        '{"moves": [100]}',
        '{"moves": [1%s]}' % ("0" * 400),
        '{"moves": [%s0]}' % ("0," * 100),
    ],
    "GET /api/agents/file": [""],
    "GET /api/agents/file?agent=a&agent=a": [""],
    "GET /api/agents/file?agent=a&update=-1": [""],
    "GET /api/agents/file?agent=a&update=" + "1" * 30: [""],
    "GET /api/agents/history?name=a": [""],
    "GET /api/agents/history?agent=shipped/table&update=40": [""],
    "DELETE /api/agents": [""],
    "DELETE /api/agents?agent=kept/a&update=0": [""],
}
"""Requests that are wrong, and their bodies."""
UNFIT = {
    "POST /api/training": {"command": "pause"},
    "POST /api/training/games": {"moves": [0, 3, 1, 4, 2]},
}
"""Requests that do not fit a training that has not started."""
UNKNOWN = ("live/", "live/0-1", "run/..", "kept/../../agent", "/etc/passwd", "%00", "")
"""Names of agents that are not there."""


def test_a_wrong_request_is_refused_and_changes_nothing(client, training):
    before = training.status()

    def refused(request, status, **body):
        reply = client.request(*request.split(" "), **body)
        assert reply.status_code == status, (request, body)
        assert reply.json()["error"]
        return reply

    for request, bodies in WRONG.items():
        for body in bodies:
            content = body if isinstance(body, bytes) else body.encode()
            refused(request, 400, content=content)
    for request, body in UNFIT.items():
        refused(request, 409, json=body)
    for agent_id in UNKNOWN:
        refused(f"GET /api/agents/file?agent={agent_id}", 404)
        refused(f"GET /api/agents/history?agent={agent_id}", 404)
        refused(f"DELETE /api/agents?agent={agent_id}", 404)
    assert training.status() == before
    for method in ("PUT", "POST", "X"):
        allowed = refused(f"{method} /api/agents", 405).headers["allow"]
        assert {*allowed.split(", ")} <= {"GET", "HEAD", "DELETE"}
    reply = client.request("HEAD", "/api/training/events")
    assert (reply.status_code, reply.content) == (200, b""), "the stream ends"


@pytest.mark.slow
def test_a_game_that_the_rules_do_not_allow_is_a_wrong_request(client, training):
    """Not one that only comes at the wrong time."""
    client.post("/api/training", json={"command": "start", "learner": "table"})
    served.wait_until(lambda: training.status()["status"] == "finished")
    game = {"moves": [0, 3, 1, 4, 2]}
    assert client.post("/api/training/games", json=game).status_code == 409, "it is off"
    client.patch("/api/training/settings", json={"learn_from_people": True})
    for moves in ([0, 0, 1], [9], [0, 3, 1, 4], []):
        reply = client.post("/api/training/games", json={"moves": moves})
        assert (reply.status_code, "error" in reply.json()) == (400, True), moves
    assert client.post("/api/training/games", json=game).status_code == 204


@pytest.mark.fault
def test_a_request_above_the_limit_of_connections_is_refused(page_app):
    with (
        served.serving(page_app, most_connections=4) as port,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(3):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
        statuses = []

        def is_refused():
            reply = served.exchange(port, served.request(port, path="/static/main.js"))
            statuses.append(served.status_of(reply))
            return statuses[-1] == 503

        served.wait_until(is_refused)
    assert {*statuses} <= {200, 503}


@pytest.mark.fault
def test_a_long_body_is_refused(port, capfd):
    body = b'{"command": "' + b"x" * MAX_BODY_BYTES + b'"}'
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    head = served.request(port, "POST", "/api/training", Transfer_Encoding="chunked")
    for request in (
        served.request(port, "POST", "/api/training", body),
        head + chunked,
    ):
        assert served.status_of(served.exchange(port, request)) == 413
    claimed = served.request(
        port, "POST", "/api/training", b"{}", Content_Length=f"{10**12}"
    )
    with socket.create_connection(("127.0.0.1", port), 60) as stalled:
        stalled.sendall(claimed)
        assert served.training_status(port)["status"] == "idle"
    for _ in range(10):  # meanwhile the server sees that the client has gone
        assert served.training_status(port)["status"] == "idle"
    assert capfd.readouterr().err == ""


NOT_HTTP = (
    b"\x16\x03\x01\x00\xa5\x01\x00\x00",  # TLS
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: " + b"x" * 2**20 + b"\r\n\r\n",
)
"""Bytes that no browser sends."""


@pytest.mark.fault
def test_clients_that_are_no_browsers_do_not_stop_the_page(port):
    """Some send no HTTP, some go away, and 200 send nothing or half a request."""
    for content in NOT_HTTP:
        reply = served.exchange(port, content)
        # A connection that is closed while much is still to be read may lose the reply.
        if reply or len(content) < 2**20:
            assert 400 <= served.status_of(reply) < 500, content[:50]
    for content in (b"GET", served.request(port, path="/api/training/events")):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(content)
    with contextlib.ExitStack() as stack:
        for number in range(200):
            idle = socket.create_connection(("127.0.0.1", port), 60)
            stack.enter_context(idle)
            if number % 4 == 0:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for path in ("/", "/static/main.js", "/api/agents"):
            reply = served.exchange(port, served.request(port, path=path))
            assert served.status_of(reply) == 200


@pytest.mark.fault
def test_an_unexpected_error_is_answered_without_its_text(port, monkeypatch, capfd):
    def broken(*args):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Training, "agent_entry", broken)
    reply = served.exchange(port, served.request(port, path="/api/agents"))
    assert served.status_of(reply) == 500
    assert b"secret" not in reply
    assert "internal error" in json.loads(served.body_of(reply))["error"]
    assert "ZeroDivisionError: secret" in capfd.readouterr().err


def test_the_reason_of_a_file_that_can_not_be_deleted_has_no_path(
    client, files, tmp_path
):
    path = files.keep("a", b"")
    path.unlink()
    path.mkdir()
    reply = client.delete("/api/agents?agent=kept/a")
    assert reply.status_code == 404
    assert str(tmp_path) not in reply.json()["error"]


def test_a_stream_has_every_row_once_and_the_state_after_each_change(port, client):
    with served.opened_stream(port) as message, served.opened_stream(port) as other:
        assert message()["status"] == other()["status"] == "idle"
        client.patch("/api/training/settings", json={"gamma": 0.9})
        assert message()["settings"]["gamma"]["moved"] is True
        start = {"command": "start", "learner": "table"}
        for number in (1, 2):  # the second one replaces the first one
            assert client.post("/api/training", json=start).status_code == 204
            rows, status = [], {"status": "", "run": 0}
            while (status["status"], status["run"]) != ("finished", number):
                status = message()
                rows = rows + status["rows"] if status["run"] == number else []
        assert [row["update"] for row in rows] == [0, 10, 20]
        assert status["learner"] == "table"
        assert served.training_status(port)["rows"] == rows, "the first has all rows"
        client.post("/api/training", json={"command": "reset"})
        status = message()
        assert (status["status"], status["rows"]) == ("idle", [])


async def read_slowly(app, training):
    """Read the training's events, and return the first message of its second run.

    The reader is so slow that this run begins and ends between two messages.
    """
    latest = asyncio.get_running_loop().create_future()

    def finish_run(number):
        training.command("start", "table")
        served.wait_until(
            lambda: (
                [training.status()[x] for x in ("status", "run")]
                == ["finished", number]
            )
        )

    async def send(message):
        _, is_data, text = message.get("body", b"").partition(b"data: ")
        if not is_data:
            return
        status = json.loads(text)
        if status["run"] < 2:
            await asyncio.to_thread(finish_run, status["run"] + 1)
        elif not latest.done():
            latest.set_result(status)

    async def receive():
        await asyncio.Future()

    scope = served.make_scope("GET", API[-1], {"host": "127.0.0.1:8000"})
    reading = asyncio.create_task(app(scope, receive, send))
    try:
        return await latest
    finally:
        reading.cancel()


def test_a_slow_reader_gets_all_rows_of_a_run_that_it_did_not_see_begin(
    page_app, training
):
    """As many as the run before had, which the reader knows."""
    message = asyncio.run(read_slowly(page_app, training))
    assert [row["update"] for row in message["rows"]] == [0, 10, 20]


def test_the_agent_in_training_is_listed_and_its_file_sent(client, training):
    client.post("/api/training", json={"command": "start", "learner": "table"})
    served.wait_until(lambda: training.status()["status"] == "finished")
    live = client.get("/api/agents").json()["agents"][-1]
    assert (live["source"], live["snapshots"]) == ("live", [0, 10, 20])
    address = f"/api/agents/file?agent={live['id']}"
    reply = client.get(address)
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.content == training.content(live["id"])
    assert client.get(f"{address}&update=0").content == training.content(live["id"], 0)
    assert client.get(f"{address}&update=7").status_code == 404


def test_the_applications_end_closes_the_training_and_its_streams(page_app, training):
    with served.serving(page_app) as port, served.opened_stream(port) as message:
        assert message()["status"] == "idle"
        assert not training.is_closed
    assert training.is_closed
