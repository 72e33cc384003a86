"""The application with small learners, a client of it, and a server of it."""

import dataclasses
import math

import pytest
import served

from jax_ttt.web import sliders
from jax_ttt.web.agent_files import AgentCollection
from jax_ttt.web.app import make_app
from jax_ttt.web.live_run import LiveRun
from jax_ttt.web.sliders import LEARNERS, LEARNING
from jax_ttt.web.training_thread import Training

HOSTS = ["127.0.0.1", "localhost", "[::1]"]


@pytest.fixture
def small(monkeypatch):
    """Let all learners be small and short."""
    for learner in LEARNERS:
        learning = LEARNING[learner]
        config = learning.config.replace(num_envs=8, num_updates=20, eval_every=10)
        if learner != "table":
            config = config.replace(hidden_size=8)
        if learner == "connect-4x4":
            config = config.replace(eval_games=8)
        changed = dataclasses.replace(learning, config=config)
        monkeypatch.setitem(sliders.LEARNING, learner, changed)


@pytest.fixture
def files(tmp_path):
    """Return the agents of the test's folder, and the shipped ones."""
    data = tmp_path / "data"
    data.mkdir()
    return AgentCollection(tmp_path / "runs", data)


@pytest.fixture
def training(files, small):
    """Return a training that computes as fast as it can, ended after the test."""
    made = Training(files, LiveRun, speed=math.inf)
    yield made
    made.close()


@pytest.fixture
def page_app(files, training):
    return make_app(files, training, HOSTS)


@pytest.fixture
def client(page_app):
    """Return a client of the application, without sockets."""
    made = served.Client(page_app)
    yield made
    made.close()


@pytest.fixture
def port(page_app):
    """Return the port of a real server of the application."""
    with served.serving(page_app) as number:
        yield number
