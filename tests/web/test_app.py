"""What the server answers and refuses, and the headers of its replies."""

import contextlib
import json
import re
import socket
import time

import pytest
import served

from jax_ttt.web.app import MOST_BODY_BYTES, STATIC
from jax_ttt.web.live_training import Training

PATHS = [
    *("/../x", "/%2e%2e%2fapp.py", "//etc/passwd", "/static/", "/static/../app.py"),
    *("/static/%2e%2e/app.py", "/static/..\\app.py", "/static/page.js%00.html"),
    *("/static/none.html", "/static/%2fetc%2fpasswd", "/%", "/static/%C0%AE%C0%AE/x"),
    *("/app.py", "/static/__init__.py", "/api", "/.git/config", "/index.html"),
]
API = ["/api/agents", "/api/training", "/api/training/events"]


def check_headers(headers):
    """Check the headers that every reply has."""
    policy = headers["content-security-policy"]
    for rule in (
        *("default-src 'none'", "script-src 'self'", "worker-src 'self'"),
        *("style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"),
    ):
        assert rule in policy.split("; "), rule
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == "no-cache"
    assert "server" not in headers
    assert "set-cookie" not in headers
    assert not [name for name in headers if name.startswith("access-control")]


def test_the_page_and_all_its_files_are_sent(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.text == (STATIC / "index.html").read_text("utf-8")
    check_headers(page.headers)
    addresses = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
    assert "/static/main.js" in addresses
    for path in STATIC.rglob("*.js"):
        addresses.append(f"/static/{path.relative_to(STATIC).as_posix()}")
    for address in addresses:
        reply = client.get(address)
        assert reply.status_code == 200, address
        if address.endswith(".js"):
            assert reply.headers["content-type"].startswith("text/javascript")
        check_headers(reply.headers)


def test_the_page_has_no_script_or_style_that_its_policy_forbids():
    text = (STATIC / "index.html").read_text("utf-8")
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    assert not any(scripts)
    assert "<style" not in text
    assert not re.search(r"\b(style|on\w+)=", text)


@pytest.mark.fault
@pytest.mark.parametrize("path", PATHS)
def test_no_file_but_the_pages_own_is_sent(port, path):
    reply = served.exchange(port, served.request(port, path=path))
    assert served.status_of(reply) in (404, 400)
    check_headers(served.headers_of(reply))
    if path.startswith("/api"):
        assert "error" in json.loads(served.body_of(reply))


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::2]"]
)
@pytest.mark.parametrize("path", ["/", "/static/main.js", *API])
def test_a_foreign_host_is_refused(client, host, path):
    reply = client.get(path, headers={"host": host})
    assert reply.status_code == 400
    check_headers(reply.headers)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "LOCALHOST:1", "[::1]:8000"])
def test_the_names_of_this_machine_are_taken(client, host):
    assert client.get("/api/agents", headers={"host": host}).status_code == 200


FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "http://127.0.0.1:8001"},  # another program of this machine
    {"origin": "null"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_other_sites_can_neither_change_nor_read(client, training, headers):
    for method, path in (
        ("POST", "/api/training"),
        ("PATCH", "/api/training/settings"),
        ("POST", "/api/training/games"),
        ("DELETE", "/api/agents?agent=kept/x"),
        *(("GET", path) for path in (*API, "/static/main.js")),
    ):
        reply = client.request(method, path, headers, json={"command": "start"})
        assert reply.status_code == 403, (method, path)
        assert reply.json() == {"error": "requests of other sites are refused"}
        check_headers(reply.headers)
    assert training.status()["status"] == "idle"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"origin": "https://behind.a.proxy", "sec-fetch-site": "same-origin"},
    ],
    ids=str,
)
def test_the_pages_own_requests_are_answered(client, headers):
    reply = client.patch("/api/training/settings", headers=headers, json={"gamma": 0.9})
    assert reply.status_code == 200, reply.text


def test_a_link_to_the_page_may_stand_on_any_site(client):
    link = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}
    assert client.get("/", headers=link).status_code == 200
    frame = {**link, "sec-fetch-dest": "iframe"}
    assert client.get("/", headers=frame).status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/training", b""),
        ("POST", "/api/training", b"["),
        ("POST", "/api/training", b"[]"),
        ("POST", "/api/training", b'"start"'),
        ("POST", "/api/training", b"\xff"),
        ("POST", "/api/training", b"{}"),
        ("POST", "/api/training", b'{"command": "jump"}'),
        ("POST", "/api/training", b'{"command": ["start"]}'),
        ("POST", "/api/training", b'{"command": null}'),
        ("POST", "/api/training", b'{"command": "start", "learner": "tree"}'),
        ("POST", "/api/training", b'{"command": "start", "learner": []}'),
        ("POST", "/api/training", b'{"command": "reset", "now": true}'),
        ("POST", "/api/training", b'{"a":' * 9000),
        ("PATCH", "/api/training/settings", b'{"gamma": NaN}'),
        ("PATCH", "/api/training/settings", b'{"gamma": 1e999}'),
        ("PATCH", "/api/training/settings", b'{"gamma": "1"}'),
        ("PATCH", "/api/training/settings", b'{"gamma": true}'),
        ("PATCH", "/api/training/settings", b'{"gamma": 2}'),
        ("PATCH", "/api/training/settings", b'{"tau": 0.1}'),
        ("PATCH", "/api/training/settings", b'{"learn_from_people": 1}'),
        ("POST", "/api/training/games", b"{}"),
        ("POST", "/api/training/games", b'{"moves": "0"}'),
        ("POST", "/api/training/games", b'{"moves": [0.5]}'),
        ("POST", "/api/training/games", b'{"moves": [true]}'),
        ("POST", "/api/training/games", b'{"moves": [-1]}'),
        ("POST", "/api/training/games", b'{"moves": [1' + b"0" * 400 + b"]}"),
        ("POST", "/api/training/games", b'{"moves": [100]}'),
        ("POST", "/api/training/games", b'{"moves": [' + b"0," * 100 + b"0]}"),
        ("GET", "/api/agents/file", b""),
        ("GET", "/api/agents/file?agent=a&agent=a", b""),
        ("GET", "/api/agents/file?agent=a&update=-1", b""),
        ("GET", "/api/agents/file?agent=a&update=x", b""),
        ("GET", "/api/agents/file?agent=a&update=" + "1" * 30, b""),
        ("GET", "/api/agents/history?name=a", b""),
        ("GET", "/api/agents/history?agent=shipped/table&update=40", b""),
        ("DELETE", "/api/agents", b""),
        ("DELETE", "/api/agents?agent=kept/a&update=0", b""),
    ],
)
def test_a_request_that_is_wrong_is_refused_and_changes_nothing(
    client, training, method, path, body
):
    before = training.status()
    reply = client.request(method, path, content=body)
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]
    assert training.status() == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/training", {"command": "pause"}),
        ("POST", "/api/training", {"command": "continue"}),
        ("POST", "/api/training/games", {"moves": [0, 3, 1, 4, 2]}),
    ],
)
def test_what_does_not_fit_the_state_is_refused(client, method, path, body):
    reply = client.request(method, path, json=body)
    assert reply.status_code == 409
    assert reply.json()["error"]


@pytest.mark.parametrize(
    "agent_id",
    [
        "live",
        "live/",
        "live/0-1",
        "shipped/none",
        "run/..",
        "kept/../../agent",
        "/etc/passwd",
        "%00",
        "",
    ],
)
def test_an_unknown_agent_is_refused(client, agent_id):
    for method, path in (
        ("GET", "/api/agents/file"),
        *(("GET", "/api/agents/history"), ("DELETE", "/api/agents")),
    ):
        reply = client.request(method, f"{path}?agent={agent_id}")
        assert reply.status_code == 404, (method, path)


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "OPTIONS", "TRACE", "X"])
def test_other_methods_are_refused(client, method):
    reply = client.request(method, "/api/agents")
    assert reply.status_code == 405
    assert set(reply.headers["allow"].split(", ")) <= {"GET", "HEAD", "DELETE"}


@pytest.mark.fault
def test_a_long_body_is_refused(port):
    body = b'{"command": "' + b"x" * MOST_BODY_BYTES + b'"}'
    reply = served.exchange(port, served.request(port, "POST", "/api/training", body))
    assert served.status_of(reply) == 413
    chunked = served.request(
        port, "POST", "/api/training", Transfer_Encoding="chunked"
    ) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    assert served.status_of(served.exchange(port, chunked)) == 413
    claimed = served.request(
        port, "POST", "/api/training", b"{}", Content_Length=f"{10**12}"
    )
    with socket.create_connection(("127.0.0.1", port), 5) as stalled:
        stalled.sendall(claimed)
        assert served.get_json(port, "/api/training")["status"] == "idle"


@pytest.mark.fault
@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x00\xa5\x01\x00\x00",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: " + b"x" * 2**20 + b"\r\n\r\n",
        b"GET /" + b"x" * 2**20 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
    ids=["TLS", "no host", "two hosts", "long header", "long path"],
)
def test_what_is_no_request_of_a_browser_is_refused(port, request_bytes):
    reply = served.exchange(port, request_bytes)
    # A connection that is closed while much is still to be read may lose the reply.
    if reply or len(request_bytes) < 2**20:
        assert 400 <= served.status_of(reply) < 500
    assert served.status_of(served.exchange(port, served.request(port))) == 200


@pytest.mark.fault
def test_200_idle_sockets_do_not_stop_the_page(port):
    """A quarter of them with half a request."""
    with contextlib.ExitStack() as stack:
        for number in range(200):
            idle = socket.create_connection(("127.0.0.1", port), 5)
            stack.enter_context(idle)
            if number % 4 == 0:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        begin = time.monotonic()
        for path in ("/", "/static/main.js", "/api/agents"):
            reply = served.exchange(port, served.request(port, path=path))
            assert served.status_of(reply) == 200
        assert time.monotonic() - begin < 2


@pytest.mark.fault
@pytest.mark.slow
def test_a_connection_is_closed_5_seconds_after_its_last_reply(port):
    with socket.create_connection(("127.0.0.1", port), 20) as idle:
        idle.sendall(served.request(port, path="/api/training", Connection=None))
        begin = time.monotonic()
        while idle.recv(2**16):
            pass
        assert 4 < time.monotonic() - begin < 10


@pytest.mark.fault
def test_a_client_that_goes_away_costs_nothing(port):
    for sent in (b"", b"GET", served.request(port, path="/api/training/events")):
        with socket.create_connection(("127.0.0.1", port), 5) as client:
            client.sendall(sent)
    assert served.status_of(served.exchange(port, served.request(port))) == 200


@pytest.mark.fault
def test_a_fault_of_the_server_is_told_without_its_contents(port, monkeypatch, capfd):
    def broken(*args):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Training, "status", broken)
    reply = served.exchange(port, served.request(port, path="/api/training"))
    assert served.status_of(reply) == 500
    assert b"secret" not in reply
    assert "internal error" in json.loads(served.body_of(reply))["error"]
    assert "ZeroDivisionError: secret" in capfd.readouterr().err


def test_the_reason_of_a_file_that_can_not_be_deleted_has_no_path(
    client, files, monkeypatch
):
    files.keep("a", b"")

    def refused(path, **options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(files._kept), "unlink", refused)
    reply = client.delete("/api/agents?agent=kept/a")
    assert (reply.status_code, reply.json()["error"]) == (404, "Permission denied")


def test_every_reply_of_the_training_has_all_rows(client, training):
    start = {"command": "start", "learner": "table"}
    client.post("/api/training", json=start)
    served.wait_until(lambda: training.status()["status"] == "finished")
    replies = [
        client.get("/api/training"),
        client.patch("/api/training/settings", json={"learn_from_people": True}),
        client.post("/api/training/games", json={"moves": [0, 3, 1, 4, 2]}),
    ]
    for reply in replies:
        assert [row["update"] for row in reply.json()["rows"]][:3] == [0, 10, 20]


@contextlib.contextmanager
def opened_stream(port):
    """Yield a function that returns the next message of the training's events."""
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(served.request(port, path="/api/training/events"))
        with client.makefile("rb") as lines:
            head = [*iter(lines.readline, b"\r\n")]
            assert b"content-type: text/event-stream; charset=utf-8\r\n" in head
            messages = (line[6:] for line in lines if line.startswith(b"data: "))
            yield lambda: json.loads(next(messages))


def test_a_stream_has_every_row_once_and_the_state_after_each_change(port, client):
    with opened_stream(port) as message, opened_stream(port) as other:
        assert message()["status"] == other()["status"] == "idle"
        client.patch("/api/training/settings", json={"gamma": 0.9})
        assert message()["settings"]["gamma"]["moved"] is True
        start = {"command": "start", "learner": "table"}
        for number in (1, 2):  # the second one replaces the first one
            reply = client.post("/api/training", json=start).json()
            assert (reply["learner"], reply["run"]) == ("table", number)
            rows, status = [], {"status": "", "run": 0}
            while (status["status"], status["run"]) != ("finished", number):
                status = message()
                rows = rows + status["rows"] if status["run"] == number else []
        assert [row["update"] for row in rows] == [0, 10, 20]
        assert rows == client.get("/api/training").json()["rows"]
        with opened_stream(port) as late:
            assert late()["rows"] == rows, "the first message has all rows"
        client.post("/api/training", json={"command": "reset"})
        status = message()
        assert (status["status"], status["rows"]) == ("idle", [])


def test_the_agent_in_training_is_listed_and_its_file_sent(client, training):
    start = {"command": "start", "learner": "table"}
    client.post("/api/training", json=start)
    served.wait_until(lambda: training.status()["status"] == "finished")
    (live,) = [
        agent
        for agent in client.get("/api/agents").json()["agents"]
        if agent["source"] == "live"
    ]
    assert live == {
        **{"id": training.status()["agent"], "name": "table", "source": "live"},
        **{"env_id": "tic_tac_toe", "kind": "table", "updates": 20},
        "snapshots": [0, 10, 20],
    }
    address = f"/api/agents/file?agent={live['id']}"
    reply = client.get(address)
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.content == training.content(live["id"])
    first = client.get(f"{address}&update=0").content
    assert first == training.content(live["id"], 0) != reply.content
    assert client.get(f"{address}&update=7").status_code == 404
    assert client.get(f"/api/agents/history?agent={live['id']}").status_code == 404


def test_a_head_request_of_the_stream_ends(client):
    reply = client.request("HEAD", "/api/training/events")
    assert (reply.status_code, reply.content) == (200, b"")


def test_the_applications_end_closes_the_training_and_its_streams(page_app, training):
    with served.serving(page_app) as port, opened_stream(port) as message:
        assert message()["status"] == "idle"
        assert not training.is_closed
    assert training.is_closed
