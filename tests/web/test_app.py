"""What the server answers and refuses, and the headers of its replies."""

import contextlib
import json
import re
import socket

import pytest
import served

from jax_ttt.web.agent_files import AgentCollection
from jax_ttt.web.app import STATIC

API = ["/api/agents", "/api/runs/events?run=a"]


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
        status, headers, _ = served.get(port, path)
        assert status in (404, 400), path
        check_headers(headers)


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


def test_other_sites_can_not_read(client):
    for headers in FOREIGN:
        for path in (*API, "/static/main.js"):
            reply = client.get(path, headers=headers)
            assert reply.status_code == 403, (headers, path)
            check_headers(reply.headers)
    for headers in OWN:
        assert client.get("/api/agents", headers=headers).status_code == 200
    # A link to the page may stand on any site.
    link = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}
    assert client.get("/", headers=link).status_code == 200
    frame = {**link, "sec-fetch-dest": "iframe"}
    assert client.get("/", headers=frame).status_code == 403


WRONG = (
    "/api/agents/file",
    "/api/agents/file?agent=a&agent=a",
    "/api/agents/file?agent=a&update=-1",
    "/api/agents/file?agent=a&update=" + "1" * 30,
    "/api/agents/history?name=a",
    "/api/agents/history?agent=shipped/table&update=40",
    "/api/runs/events",
    "/api/runs/events?run=a&run=b",
    "/api/runs/events?run=a&update=1",
)
"""Requests that are wrong."""
UNKNOWN = ("live/", "live/0-1", "run/..", "kept/x", "/etc/passwd", "%00", "")
"""Names of agents that are not there."""


def test_a_wrong_request_is_refused(client):
    def refused(path, status, method="GET"):
        reply = client.request(method, path)
        assert reply.status_code == status, (method, path)
        assert reply.json()["error"]
        return reply

    for path in WRONG:
        refused(path, 400)
    for agent_id in UNKNOWN:
        refused(f"/api/agents/file?agent={agent_id}", 404)
        refused(f"/api/agents/history?agent={agent_id}", 404)
    for name in ("..", "a/b", "../runs/a", ""):
        refused(f"/api/runs/events?run={name}", 404)
    for method in ("PUT", "POST", "PATCH", "DELETE", "X"):
        allowed = refused("/api/agents", 405, method).headers["allow"]
        assert {*allowed.split(", ")} == {"GET", "HEAD"}
    reply = client.request("HEAD", API[-1])
    assert (reply.status_code, reply.content) == (200, b""), "the stream ends"


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
            statuses.append(served.get(port, "/static/main.js")[0])
            return statuses[-1] == 503

        served.wait_until(is_refused)
    assert {*statuses} <= {200, 503}


@pytest.mark.fault
def test_clients_that_send_nothing_or_half_a_request_do_not_stop_the_page(port):
    with contextlib.ExitStack() as stack:
        for number in range(200):
            idle = socket.create_connection(("127.0.0.1", port), 60)
            stack.enter_context(idle)
            if number % 4 == 0:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for path in ("/", "/static/main.js", "/api/agents"):
            assert served.get(port, path)[0] == 200


@pytest.mark.fault
def test_an_unexpected_error_is_answered_without_its_text(port, monkeypatch, capfd):
    def broken(*args):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(AgentCollection, "list_agents", broken)
    status, _, body = served.get(port, "/api/agents")
    assert status == 500
    assert b"secret" not in body
    assert "internal error" in json.loads(body)["error"]
    assert "ZeroDivisionError: secret" in capfd.readouterr().err
