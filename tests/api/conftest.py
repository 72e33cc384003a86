"""Fixtures of the tests of the public functions, for instance a proven table."""

import sys

import pytest
import quick
import tiny

import jax_ttt


@pytest.fixture(scope="session")
def run():
    train = quick.train_once(jax_ttt.train)
    return train(seed=1, preset="table", keep_agents=True)


@pytest.fixture(scope="session")
def agent(run):
    return run.agent


@pytest.fixture(scope="session")
def beaten(tmp_path_factory):
    """Return an untrained agent of a game without a tree; it can be beaten."""
    file = tmp_path_factory.mktemp("beaten") / "agent.safetensors"
    return jax_ttt.load(tiny.save_untrained(file, env_id="connect_4x4"))


@pytest.fixture
def without_matplotlib(monkeypatch):
    """Hide matplotlib, as without the extra `plots`."""
    for name in [*sys.modules, "matplotlib", "matplotlib.figure"]:
        if name.partition(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
