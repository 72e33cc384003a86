"""The checks of requests, without sockets; `test_app` has them with sockets."""

from starlette.datastructures import Headers

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
