"""The agent file: saved agents are loaded unchanged; damaged files are refused."""

import dataclasses
import json

import jax
import made
import numpy as np
import pytest
import safetensors.numpy
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.files import agent_file, tensor_file
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.players.network_player import network_of

CONFIG = Config.of(hidden_size=8, eval_games=0)


@pytest.fixture(scope="module")
def agent():
    """Return an untrained agent."""
    params = q_network.init_params(network_of(CONFIG.architecture), jax.random.key(3))
    return saved_agents.SavedAgent(CONFIG, params, 3, 17, made.exact((0.5,), (0.25,)))


@pytest.fixture
def saved(agent, tmp_path):
    """Return the path of the agent's file."""
    path = tmp_path / "agent.safetensors"
    saved_agents.save_agent(agent, path)
    return path


def refuse(path, env_id="tic_tac_toe"):
    """Assert that loading fails in one line that names the file; return the line."""
    with pytest.raises(saved_agents.AgentError) as caught:
        saved_agents.load_agent(path, env_id)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def rewrite(path, **changes):
    """Change entries of the description and its checksum, but not the weights."""
    with safetensors.safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["jax_ttt"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del about["sha256"]
    about |= changes
    about.setdefault("sha256", tensor_file._digest(about, tensors))
    text = json.dumps(about, sort_keys=True)
    path.write_bytes(safetensors.numpy.save(tensors, {"jax_ttt": text}))


def test_what_is_saved_comes_back(agent, saved):
    loaded = saved_agents.load_agent(saved)
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
    saved_agents.save_agent(tiny.ungraded(config, params), tmp_path / "table")
    loaded = saved_agents.load_agent(tmp_path / "table")
    assert loaded.config == config
    (found,) = jax.tree.leaves(loaded.params)
    np.testing.assert_array_equal(found, values.astype(np.float32))


def test_the_same_agent_gives_the_same_bytes(agent, saved, tmp_path):
    saved_agents.save_agent(saved_agents.load_agent(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_a_folder_stands_for_its_agent(agent, saved):
    assert saved_agents.load_agent(saved.parent).seed == agent.seed


def test_an_agent_of_another_game_is_refused(saved):
    message = refuse(saved, "connect_four")
    assert message.endswith("made for tic_tac_toe, not for connect_four")


def test_another_programs_safetensors_is_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    path.write_bytes(safetensors.numpy.save({"a": np.zeros(3, np.float32)}))
    assert "not saved by jax_ttt" in refuse(path)


FIELDS = CONFIG.as_dict()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format_version": 4}, "format version 4; this program reads 5"),
        ({"kind": "checkpoint"}, "Invalid enum value 'checkpoint' - at `$.kind`"),
        ({"env_id": "connect_four"}, "its game does not match"),
        ({"config": FIELDS | {"env_id": "hex"}}, "its game does not match"),
        ({"config": {"env_id": "tic_tac_toe"}}, "don't fit"),  # 128 neurons
        ({"config": FIELDS | {"hidden_size": 16}}, "don't fit"),
        ({"config": FIELDS | {"gamma": 7.0}}, "gamma must be"),
        ({"config": FIELDS | {"no\x1b[2J": 1}}, "no [2J must be the name of a setting"),
        ({"config": None}, "Expected `object`, got `null` - at `$.config`"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"sha256": "0" * 64}, "contents were changed"),
        ({"score": 3}, "Expected `object`, got `int` - at `$.score`"),
        (
            {"score": {"env_id": "hex", "first": {}}},
            "missing required field `win_rate` - at `$.score.first`",
        ),
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
        saved_agents.save_agent(poisoned, saved)
    assert saved.read_bytes() == before
    with monkeypatch.context() as patch:
        patch.setattr(agent_file.np, "isfinite", lambda tensor: np.array([True]))
        saved_agents.save_agent(poisoned, saved)
    assert "not finite" in refuse(saved)
