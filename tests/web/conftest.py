"""The application, a client of it, and a server of it."""

import pytest
import served
from starlette.testclient import TestClient

from jax_ttt.web.agent_files import AgentCollection
from jax_ttt.web.app import make_app

HOSTS = ["127.0.0.1", "localhost", "[::1]"]


@pytest.fixture
def files(tmp_path):
    """Return the agents of the runs in the test's folder, and the shipped ones."""
    return AgentCollection(tmp_path / "runs")


@pytest.fixture
def page_app(files):
    return make_app(files, HOSTS)


@pytest.fixture
def client(page_app):
    """Return a client of the application, without sockets."""
    return TestClient(
        page_app, base_url="http://127.0.0.1:8000", follow_redirects=False
    )


@pytest.fixture
def port(page_app):
    """Return the port of a real server of the application."""
    with served.serving(page_app) as number:
        yield number
