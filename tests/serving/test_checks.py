"""The checks of requests, without sockets; `test_app` has them with sockets."""

import pytest
from starlette.datastructures import Headers

from jax_ttt.serving import checks
from jax_ttt.serving.checks import Checked
from jax_ttt.serving.replies import Refusal


async def app(scope, receive, send):
    raise AssertionError


def status(checked, method="GET", path="/", **headers):
    """Return the status with which a request is refused; None if it is not."""
    about = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        checked.check(method, path, Headers(about))
    except Refusal as refusal:
        return refusal.status
    return None


@pytest.mark.fault
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"host": "evil.example:8000"},
        {"host": "127.0.0.1:8001"},
        {"origin": "http://evil.example"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
    ids=str,
)
def test_every_method_is_checked(method, wrong):
    good = {"host": "127.0.0.1:8000"}
    if method in ("POST", "PATCH", "PUT"):
        good |= {"content_type": "application/json", "content_length": "2"}
    checked = Checked(app, 8000)
    assert status(checked, method, "/api/games", **good) is None
    assert status(checked, method, "/api/games", **good | wrong) == 403


def test_names_of_the_server():
    local = Checked(app, 8000)
    named = Checked(app, 8000, ("Box.local",))
    everywhere = Checked(app, 8000, (), True)
    for host in ("127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST:8000"):
        for checked in (local, named, everywhere):
            assert status(checked, host=host) is None
    assert status(named, host="box.LOCAL:8000") is None
    for host in ("192.168.0.7:8000", "[fe80::1]:8000"):
        assert status(everywhere, host=host) is None
        assert status(local, host=host) == 403
    for host in ("evil.example:8000", "192.168.0.7", "1.2.3:8000", "[::1", "8000"):
        assert status(everywhere, host=host) == 403
    assert status(Checked(app, 80), host="localhost") is None
    assert status(Checked(app, 80), host="[::1]") is None


def test_a_reason_of_a_wrong_host_names_the_right_one():
    with pytest.raises(Refusal, match=r"open http://127\.0\.0\.1:8000/"):
        Checked(app, 8000).check("GET", "/", Headers({"host": "x"}))


@pytest.mark.fault
@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        (b'{"a": 1, "b": 2}', {"a": int}),
        (b"{}", {"a": int}),
        (b'{"a": true}', {"a": int}),
        (b'{"a": 1.0}', {"a": int}),
        (b'{"a": "1"}', {"a": int}),
        (b'{"a": 3}', {"a": lambda value: value < 3}),
        (b'{"a": null}', {"a_": int}),
        (b"[1]", {"a": int}),
        (b'{"a": 1, "a": 1}', {"a": int}),
        (b'{"a": -Infinity}', {"a": float}),
        (b'{"a": 1e999}', {"a": float}),
        (b"[" * 100_000, {"a": int}),
    ],
    ids=range(12),
)
def test_fields_that_are_refused(body, kinds):
    with pytest.raises(Refusal) as refusal:
        checks.read_fields(body, **kinds)
    assert refusal.value.status == 400


def test_fields_that_are_read():
    assert checks.read_fields(b'{"a": 1}', a=int, b_=str) == {"a": 1}
    assert checks.read_fields(b'{"b": "x", "a": 1}', a=int, b_=str) == {
        "a": 1,
        "b": "x",
    }


def test_a_link_on_another_site_opens_the_pages_and_nothing_else():
    checked = Checked(app, 8000)
    link = {"host": "127.0.0.1:8000", "sec_fetch_site": "cross-site"}
    for path in ("/", "/connect_four.html"):
        assert status(checked, path=path, **link, sec_fetch_dest="document") is None
    assert status(checked, path="/", **link, sec_fetch_dest="image") == 403
    for path in ("/api/games", "/api/games/x.html", "/static/index.html"):
        assert status(checked, path=path, **link, sec_fetch_dest="document") == 403
    assert status(checked, "HEAD", "/", **link, sec_fetch_dest="document") == 403


def test_exactly_one_host_is_needed():
    host: list[tuple[bytes, bytes]] = [(b"host", b"127.0.0.1:8000")]
    for headers in ([], [*host, *host]):
        with pytest.raises(Refusal) as refused:
            Checked(app, 8000).check("GET", "/", Headers(raw=headers))
        assert refused.value.status == 400


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_body_needs_its_length_and_its_type(method):
    checked, host = Checked(app, 8000), {"host": "127.0.0.1:8000"}
    assert status(checked, method, **host, content_type="application/json") == 411
    assert status(checked, method, **host, content_length="0") == 415
    for kind in (
        "text/plain",
        "application/jsonp",
        "application/json; charset=latin-1",
    ):
        about = host | {"content_length": "2", "content_type": kind}
        assert status(checked, method, **about) == 415


def test_a_request_that_only_reads_has_no_body():
    about = {"host": "127.0.0.1:8000", "content_type": "application/json"}
    for method in ("GET", "HEAD"):
        assert status(Checked(app, 8000), method, **about, content_length="2") == 400
        assert status(Checked(app, 8000), method, **about, content_length="0") is None
