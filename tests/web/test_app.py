"""What the server makes of requests that no browser sends, over real sockets.

Each must be answered with the right status, a reason as JSON and all headers, and
without a traceback.
"""

import json
import os
import re
import socket
import time

import pytest
import served

from jax_ttt.serving import static_files
from jax_ttt.serving.loading import Loading
from jax_ttt.web import app, services

GAME = '{"opponent": {"level": "expert"}, "side": "x"}'
DEEP = "[" * 50_000 + "]" * 50_000
POST = {"method": "POST", "path": "/api/games"}


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """Return the port of a server that the tests of this file share."""
    folder = tmp_path_factory.mktemp("served")
    made = services.make_services(folder / "runs", folder, served.Training())
    loading = Loading()
    loading.begin(lambda: made, lambda: None)
    static = os.path.join(os.path.dirname(app.__file__), "static")
    files = static_files.read_files(served.Path(static))
    page_app = app.make_app(loading, files)
    with served.serving(page_app, loading.end, large=app.LARGE) as found:
        # It computes what it shows of the agents first, and reads compiled programs.
        served.exchange(found, served.request(found, path="/api/agents"))
        yield found
    made.close()


def asked(**fields):
    """Return a function from the port to a request."""
    return lambda port: served.request(port, **fields)


def lines(*text, body=b""):
    """Return a function from the port to a request of these lines."""
    whole = "\r\n".join([*text, "", ""])
    return lambda port: whole.replace("PORT", str(port)).encode("latin-1") + body


def posted(body: str | bytes = GAME, **headers):
    return asked(**POST, body=body, **headers)


HOST = "Host: 127.0.0.1:PORT"
TABLE = {
    "evil host": (asked(Host="evil.example:8000"), 403),
    "our host with another port": (asked(Host="127.0.0.1:1"), 403),
    "no host": (asked(Host=None), 400),
    "two hosts": (lines("GET / HTTP/1.1", HOST, HOST), 400),
    "evil origin of a post": (posted(Origin="http://evil.example"), 403),
    "evil origin of a delete": (
        asked(method="DELETE", path="/api/statistics", Origin="http://evil.example"),
        403,
    ),
    "another port of this machine": (posted(Origin="http://127.0.0.1:1"), 403),
    "a page of this machine": (posted(Sec_Fetch_Site="same-site"), 403),
    "a link of another site": (
        asked(path="/", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="document"),
        200,
    ),
    "a frame of another site": (
        asked(path="/", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="iframe"),
        403,
    ),
    "text/plain": (posted(Content_Type="text/plain"), 415),
    "another charset": (posted(Content_Type="application/json; charset=utf-16"), 415),
    "get of a move": (asked(path="/api/games/x/moves"), 405),
    "options": (asked(method="OPTIONS", path="/api/games"), 405),
    "connect": (lines("CONNECT evil.example:443 HTTP/1.1", HOST), 404),
    "length -1": (posted(Content_Length="-1"), 400),
    "length of a terabyte": (posted(Content_Length="1000000000000"), 413),
    "no length": (posted(Content_Length=None), 411),
    "two lengths": (
        lines(
            "POST /api/games HTTP/1.1",
            HOST,
            "Content-Length: 2",
            "Content-Length: 3",
            body=b"{}",
        ),
        400,
    ),
    "chunked": (posted(Content_Length=None, Transfer_Encoding="chunked"), 501),
    "length and chunked": (posted(Transfer_Encoding="chunked"), 400),
    "a body of 1 MiB": (posted("x" * 2**20), 413),
    "a body of 9 MiB for a backup": (
        asked(method="POST", path="/api/backup", body="x" * (9 * 2**20)),
        413,
    ),
    "a get with a body": (asked(path="/", body="{}"), 400),
    "deep JSON": (posted(DEEP[:60_000]), 400),
    "NaN": (posted('{"opponent": NaN, "side": "x"}'), 400),
    "a number of 5,000 digits": (posted(f'{{"side": {"9" * 5000}}}'), 400),
    "a name twice": (posted('{"side": "x", "side": "o", "opponent": {}}'), 400),
    "bad UTF-8": (posted(b'{"side": "\xff"}'), 400),
    "half a pair": (posted('{"side": "\\ud800", "opponent": {}}'), 400),
    "NUL in a header": (asked(X_Name="a\0b"), 400),
    "an address of 70 kB": (asked(path="/" + "x" * 70_000), 414),
    "101 headers": (asked(**{f"X{n}": "1" for n in range(101)}), 431),
    "a header that goes on": (lines("GET / HTTP/1.1", HOST, "A: 1", " b"), 400),
    "a header without a colon": (lines("GET / HTTP/1.1", HOST, "hello"), 400),
    "a hello of TLS": (lambda port: bytes.fromhex("16030100f8010000f40303") * 9, 400),
    "an upgrade": (asked(Connection="Upgrade", Upgrade="websocket"), 200),
    "an unknown address": (asked(path="/nothing"), 404),
    "an unknown parameter": (asked(path="/api/values?agent=live&x=1"), 400),
    "no agent": (asked(path="/api/values"), 400),
    "an update that is no number": (asked(path="/api/grade?agent=a&update=-1"), 400),
    "two agents": (asked(path="/api/values?agent=a&agent=b"), 400),
    "an agent's file": (asked(path="/api/values?agent=../../x"), 404),
    "settings of text": (
        asked(method="PATCH", path="/api/training/settings", body='{"gamma": "x"}'),
        400,
    ),
    "a good request": (posted(), 201),
    "a request that waits to be told": (posted(Expect="100-continue"), 417),
    "a type with a charset": (
        posted(Content_Type="application/json; charset=UTF-8"),
        201,
    ),
    "the address of IPv6": (lines("GET / HTTP/1.1", "Host: [::1]:PORT"), 200),
    "our own origin": (
        lines("GET / HTTP/1.1", HOST, "Origin: http://127.0.0.1:PORT"),
        200,
    ),
    "bare line feeds": (
        lambda port: f"GET / HTTP/1.1\nHost: 127.0.0.1:{port}\n\n".encode(),
        200,
    ),
}


@pytest.mark.fault
@pytest.mark.parametrize(("made", "status"), TABLE.values(), ids=[*TABLE])
def test_a_request_of_the_table(port, made, status, capfd):
    reply = served.exchange(port, made(port))
    assert served.status_of(reply) == status, reply[:300]
    headers = served.headers_of(reply)
    check_headers(headers)
    body = served.body_of(reply)
    assert len(body) == int(headers["content-length"]), "one reply, and no more"
    if status >= 400 and not made(port).startswith(b"HEAD"):
        assert headers["content-type"] == "application/json"
        (reason,) = json.loads(body).values()
        assert 5 < len(reason) < 300
        assert "\n" not in reason
    assert "Traceback" not in "".join(capfd.readouterr())


def check_headers(headers):
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["connection"] == "close"
    assert "server" not in headers
    assert "set-cookie" not in headers
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.fault
def test_requests_in_one_go_have_one_reply(port):
    """The second one could belong to somebody else, behind a proxy."""
    both = served.request(port, path="/api/statistics") * 2
    reply = served.exchange(port, both)
    assert reply.count(b"HTTP/1.1 ") == 1
    hidden = served.request(port, method="DELETE", path="/api/statistics")
    first = served.request(port, **POST, body=GAME)
    reply = served.exchange(port, first + hidden)
    assert reply.count(b"HTTP/1.1 ") == 1
    assert served.status_of(reply) == 201


@pytest.mark.fault
def test_a_request_may_come_in_pieces(port):
    whole = served.request(port, **POST, body=GAME)
    with socket.create_connection(("127.0.0.1", port), 5) as client:
        for n in range(0, len(whole), 7):
            client.sendall(whole[n : n + 7])
            time.sleep(0.001)
        found = b""
        while part := client.recv(65536):
            found += part
    assert served.status_of(found) == 201


@pytest.mark.fault
def test_a_client_that_goes_away_costs_nothing(port):
    for sent in (b"", b"GET", served.request(port, **POST, body=GAME)[:-3]):
        with socket.create_connection(("127.0.0.1", port), 5) as client:
            client.sendall(sent)
    assert served.status_of(served.exchange(port, served.request(port))) == 200


PATHS = [
    *("/../x", "/%2e%2e%2fapp.py", "//etc/passwd", "/static/", "/static/../app.py"),
    *("/static/%2e%2e/app.py", "/static/..\\app.py", "/static/page.js%00.html"),
    *("/static/none.html", "/static/%2fetc%2fpasswd", "/%", "/static/%C0%AE%C0%AE/x"),
    *("/app.py", "/static/__init__.py", "/api", "/.git/config"),
]


@pytest.mark.fault
@pytest.mark.parametrize("path", PATHS)
def test_no_file_but_the_pages_own_is_sent(port, path):
    reply = served.exchange(port, served.request(port, path=path))
    assert served.status_of(reply) in (404, 400)
    check_headers(served.headers_of(reply))


@pytest.mark.parametrize("path", ["/", "/index.html", "/connect_four.html"])
def test_a_page_and_its_modules_are_sent_with_a_policy_that_allows_the_map(port, path):
    page = served.exchange(port, served.request(port, path=path))
    headers, text = served.headers_of(page), served.body_of(page).decode()
    assert headers["content-type"].startswith("text/html")
    imports = re.findall(r'<script type="importmap">(.*?)</script>', text, re.DOTALL)
    names = json.loads(imports[0])["imports"]
    assert "page/board" in names
    for address in names.values():
        reply = served.exchange(port, served.request(port, path=address))
        assert served.status_of(reply) == 200, address
        assert served.headers_of(reply)["content-type"].startswith("text/javascript")
    check_hash(headers["content-security-policy"], imports[0])
    # No other script or style stands in the page: the policy would forbid it.
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL)
    assert [s for s in scripts if s[1].strip()] == [(' type="importmap"', imports[0])]
    assert "<style" not in text
    assert " style=" not in text
    assert " on" + "click" not in text


def check_hash(policy, script):
    import base64
    import hashlib

    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy


@pytest.mark.fault
def test_a_fault_of_the_server_is_told_without_its_contents(port, monkeypatch, capfd):
    def broken(*args):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("jax_ttt.web.descriptions.Descriptions.all", broken)
    reply = served.exchange(port, served.request(port, path="/api/agents"))
    assert served.status_of(reply) == 500
    check_headers(served.headers_of(reply))
    assert b"secret" not in reply
    assert b"internal error" in reply
    assert "ZeroDivisionError: secret" in capfd.readouterr().err


def test_requests_wait_for_the_services_and_are_refused_at_the_end():
    loading = Loading()
    with (
        served.serving(app.make_app(loading, {}), loading.end) as port,
        socket.create_connection(("127.0.0.1", port), 5) as client,
    ):
        client.sendall(served.request(port, path="/api/agents"))
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.recv(10)
        loading.end()
        client.settimeout(5)
        assert b" 503 " in client.recv(1000)
