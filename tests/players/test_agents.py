"""The agent file: saved agents are loaded unchanged; damaged files are refused."""

import dataclasses
import json
from pathlib import Path

import jax
import made
import numpy as np
import pytest
import safetensors.numpy

from jax_ttt.config.catalogue import SEATS
from jax_ttt.config.settings import FORMAT_VERSION, Config
from jax_ttt.networks import q_network
from jax_ttt.players import agents
from jax_ttt.players.network import network_of
from jax_ttt.results import plain, tensor_files
from jax_ttt.results.grades import Grades

CONFIG = Config.of(hidden_size=8, eval_games=0)


DATA = Path(__file__).parents[1] / "data"
LATER = (
    *("start_share", "learning_rate_decay", "random_opening", "two_planes"),
    *("max_positions", "filters"),
)
"""Settings that the kept agents do not have."""


@pytest.fixture(scope="module")
def agent():
    """Return an untrained agent."""
    params = q_network.init_params(network_of(CONFIG.architecture), jax.random.key(3))
    return agents.Agent(
        CONFIG, params, 3, 17, Grades(exact=made.exact((0.5,), (0.25,)))
    )


@pytest.fixture
def saved(agent, tmp_path):
    """Return the path of the agent's file."""
    path = tmp_path / "agent.safetensors"
    agents.save_agent(agent, path)
    return path


def refuse(path, env_id="tic_tac_toe"):
    """Assert that loading fails in one line that names the file; return the line."""
    with pytest.raises(agents.AgentError) as caught:
        agents.load_agent(path, env_id)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def rewrite(path, **changes):
    """Change entries of the description, and leave the weights as they are."""
    with safetensors.safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["jax_ttt"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    about |= changes
    text = json.dumps(about, sort_keys=True)
    path.write_bytes(safetensors.numpy.save(tensors, {"jax_ttt": text}))


def test_what_is_saved_comes_back(agent, saved):
    loaded = agents.load_agent(saved)
    assert dataclasses.replace(loaded, params=agent.params) == agent
    for a, b in zip(
        jax.tree.leaves(agent.params), jax.tree.leaves(loaded.params), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("key", "double"), [("position", True), ("after-state", False), ("hash", True)]
)
def test_a_table_comes_back(key, double, tmp_path):
    config = Config.of(network="table", table_key=key, double=double)
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    values = np.random.default_rng(1).uniform(-1, 1, jax.tree.leaves(params)[0].shape)
    params = jax.tree.map(lambda _: jax.numpy.asarray(values, "float32"), params)
    agents.save_agent(agents.Agent(config, params, 0, 1), tmp_path / "table")
    loaded = agents.load_agent(tmp_path / "table")
    assert loaded.config == config
    (found,) = jax.tree.leaves(loaded.params)
    np.testing.assert_array_equal(found, values.astype(np.float32))


def test_the_same_agent_gives_the_same_bytes(agent, saved, tmp_path):
    agents.save_agent(agents.load_agent(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_a_folder_stands_for_its_agent(agent, saved):
    assert agents.load_agent(saved.parent).seed == agent.seed


def test_another_programs_safetensors_is_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    path.write_bytes(safetensors.numpy.save({"a": np.zeros(3, np.float32)}))
    assert "not saved by jax_ttt" in refuse(path)


FIELDS = CONFIG.as_dict()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format_version": 99}, "format version 99; this program reads 1, 2 and 3"),
        ({"env_id": "connect_four"}, "made for connect_four, not for tic_tac_toe"),
        ({"config": FIELDS | {"env_id": "hex"}}, "its game does not match"),
        ({"network": "table"}, "its network does not match"),
        ({"config": {"env_id": "tic_tac_toe"}}, "don't fit"),  # 128 neurons
        ({"config": FIELDS | {"gamma": 7.0}}, "gamma must be"),
        ({"config": FIELDS | {"hidden_size": 16}}, "don't fit"),
        ({"config": None}, "damaged description"),
        ({"sha256": "0" * 64}, "contents were changed"),
        ({"score": 3}, "score must be an object, got 3"),
        ({"score": {"exact": {}}}, "score.exact.win_rate is missing"),
    ],
)
def test_a_changed_description_is_refused(changes, reason, saved):
    rewrite(saved, **changes)
    assert reason in refuse(saved)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_neither_saved_nor_loaded(
    bad, agent, saved, monkeypatch
):
    before = saved.read_bytes()
    params = jax.tree.map(lambda leaf: leaf.at[(0,) * leaf.ndim].set(bad), agent.params)
    poisoned = dataclasses.replace(agent, params=params)
    with pytest.raises(FloatingPointError):
        agents.save_agent(poisoned, saved)
    assert saved.read_bytes() == before
    with monkeypatch.context() as patch:
        patch.setattr(agents.np, "isfinite", lambda tensor: np.array([True]))
        agents.save_agent(poisoned, saved)
    assert "not finite" in refuse(saved)


@pytest.mark.parametrize(
    ("env_id", "canonical"), [("tic_tac_toe", True), ("connect_four", False)]
)
def test_agents_of_the_first_format_load_and_see_boards_as_they_did(env_id, canonical):
    """The first format had no mirror image of Connect Four; its agents used none."""
    agent = agents.load_agent(DATA / f"agent-1-{env_id}.safetensors")
    assert agent.config.network.canonical == canonical
    assert (agent.config.env_id, agent.num_updates) == (env_id, 2)
    assert Config.of(env_id=env_id).network.canonical  # what new agents learn with
    assert agent.score.sampled is not None  # its seats are `as_first`, `as_second`
    assert [agent.score.sampled.seat(seat).num_games for seat in SEATS] == [1, 1]


@pytest.mark.fault
@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_agent_of_each_format_loads_and_gives_a_file_of_this_one(version, tmp_path):
    """The same agent gives the same bytes, but for settings that came later."""
    path = DATA / f"agent-{version}-tic_tac_toe.safetensors"
    agent = agents.load_agent(path)
    new = agents.agent_file(agent)
    (tmp_path / "new").write_bytes(new)
    about = tensor_files.description(tmp_path / "new")
    assert about["format_version"] == FORMAT_VERSION
    assert agents.agent_file(agents.load_agent(tmp_path / "new")) == new
    before = tensor_files.description(path)
    if version == FORMAT_VERSION and before["version"] == about["version"]:
        later = {name: Config().value(name) for name in LATER}
        settings = about["config"]
        assert settings == plain.field(before, "config", dict) | later
        del before["architecture"]
        assert about == before | {"config": settings, "sha256": about["sha256"]}


def test_the_third_format_has_the_agent_that_was_saved():
    agent = agents.load_agent(DATA / "agent-3-tic_tac_toe.safetensors")
    assert (agent.seed, agent.num_updates) == (7, 2)
    assert agent.config == Config.of(hidden_size=2, num_updates=2, eval_games=0)
    assert agent.score == Grades(exact=made.exact((0.5,), (0.25,)))
    kernel = agents.tensors_of(agent.params)["layers.layers.2.kernel"]
    np.testing.assert_allclose(kernel.flat[:2], [-0.6224426, -0.4940043], rtol=1e-6)


def test_an_agent_of_the_second_format_loads_with_its_useless_settings():
    """It was saved with settings that have no effect."""
    path = DATA / "agent-2-tic_tac_toe.safetensors"
    agent = agents.load_agent(path)
    with safetensors.safe_open(path, framework="numpy") as file:
        saved = json.loads(file.metadata()["jax_ttt"])["config"]
    useless = {"replay_batch": 64, "epsilon_decay": 0.5, "initial_value": 0.25}
    assert {name: saved[name] for name in useless} == useless
    fields = saved
    # Later settings, of which average_span averaged nothing.
    fields |= {"average_span": 0.0} | {name: Config().value(name) for name in LATER}
    assert agent.config.as_dict() == fields
    assert agent.config.network.hidden_size == 8
    assert agent.config.architecture.heads == "value-and-reply"
