"""The services of a page and a client of its application."""

from pathlib import Path

import pytest
import served

from jax_ttt.serving import static_files
from jax_ttt.serving.checks import Checked
from jax_ttt.serving.loading import Loading
from jax_ttt.web import app, services

STATIC = Path(app.__file__).parent / "static"


@pytest.fixture
def training():
    return served.Training()


@pytest.fixture
def made(tmp_path, training):
    """Return services that keep their files in the test's folder."""
    data = tmp_path / "data"
    data.mkdir()
    found = services.make_services(tmp_path / "runs", data, training)
    yield found
    found.close()


@pytest.fixture
def loaded(made):
    """Return these services as the application waits for them."""
    loading = Loading()
    loading.begin(lambda: made, lambda: None)
    return loading


@pytest.fixture
def page_app(loaded):
    return app.make_app(loaded, static_files.read_files(STATIC))


@pytest.fixture
def client(page_app):
    """Return a client of the application with all checks, without sockets."""
    checked = Checked(page_app, 8000)
    found = served.Client(checked)
    yield found
    found.close()


@pytest.fixture
def port(page_app, loaded):
    """Return the port of a real server of the application."""
    with served.serving(page_app, loaded.end, large=app.LARGE) as found:
        yield found


@pytest.fixture
def started(client):
    """Return a function that starts a game and returns it."""

    def start(side="x", **opponent):
        asked = {"opponent": opponent or {"level": "expert"}, "side": side}
        reply = client.post("/api/games", json=asked)
        assert reply.status_code == 201, reply.text
        return reply.json()

    return start
