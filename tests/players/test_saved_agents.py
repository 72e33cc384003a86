"""Saved agents: what is loaded is what was saved; a wrong description is refused.

`tests/faults/test_damaged_files.py` has damaged files.
"""

import dataclasses
import functools
import json
import os
import tracemalloc
from pathlib import Path

import jax
import made
import numpy as np
import pytest
import safetensors.numpy
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, tensor_file
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.players.network_player import network_from
from jax_ttt.players.saved_agents import AgentError, SavedAgent

CONFIG = Config.of(hidden_size=2, num_updates=2, eval_games=0)
GRADE = made.exact((0.5,), (0.25,))
AGENT = SavedAgent(CONFIG, tiny.untrained(CONFIG).params, 7, 2, GRADE)
CONTENT = saved_agents.agent_bytes(AGENT)
HEADER = CONTENT[8 : 8 + int.from_bytes(CONTENT[:8], "little")]
DESCRIPTION = json.loads(json.loads(HEADER)["__metadata__"]["jax_ttt"])
TENSORS = safetensors.numpy.load(CONTENT)


@pytest.mark.parametrize(
    "fields",
    [
        {"hidden_size": 8},
        {"network": "table"},
        {"network": "table", "table_key": "after-state", "double": False},
        {"network": "table", "table_key": "hash"},
    ],
)
def test_what_is_saved_comes_back(fields, tmp_path):
    config = Config.of(**fields)
    params = q_network.init_params(network_from(config.architecture), jax.random.key(0))
    rng = np.random.default_rng(1)
    params = jax.tree.map(
        lambda x: jax.numpy.asarray(rng.uniform(-1, 1, x.shape), "float32"), params
    )
    agent = SavedAgent(config, params, 3, 17, GRADE)
    saved_agents.save_agent(agent, tmp_path / "agent.safetensors")
    loaded = saved_agents.load_agent(tmp_path)  # the folder
    assert dataclasses.replace(loaded, params=params) == agent
    for saved, leaf in zip(*map(jax.tree.leaves, (params, loaded.params)), strict=True):
        np.testing.assert_array_equal(saved, leaf)
    with pytest.raises(AgentError, match="made for tic_tac_toe, not for connect_four"):
        saved_agents.load_agent(tmp_path, "connect_four")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return the path of a file; no other file may appear beside it or in `here`."""
    folder, before = tmp_path_factory.mktemp("hostile"), Path.cwd()
    (folder / "here").mkdir()
    os.chdir(folder / "here")
    yield folder / "agent.safetensors"
    os.chdir(before)
    assert os.listdir(folder / "here") == []
    assert set(os.listdir(folder)) <= {"here", "agent.safetensors"}


def refusal(path, content):
    """Return the line with which a file is refused; None if it is loaded."""
    path.write_bytes(content)
    try:
        saved_agents.load_agent(path)
    except AgentError as error:
        message = str(error)
    else:
        return None
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) < len(str(path)) + 400
    return message


def with_description(**changes):
    """Return the file with another description and its checksum."""
    description = {k: v for k, v in DESCRIPTION.items() if k != "sha256"} | changes
    description["sha256"] = tensor_file._digest(description, TENSORS)
    text = json.dumps(description, sort_keys=True)
    return safetensors.numpy.save(TENSORS, {"jax_ttt": text})


SETTINGS = DESCRIPTION["config"]


@pytest.mark.fault
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": {"env_id": "tic_tac_toe"}}, "don't fit a network for tic_tac_toe"),
        ({"config": SETTINGS | {"hidden_size": 16}}, "don't fit a network"),
        ({"config": SETTINGS | {"hidden_size": 2**14, "hidden_layers": 16}}, "fit"),
        ({"score": json.loads("[" * 40 + "]" * 40)}, "Expected `object`, got `array`"),
        ({"score": DESCRIPTION["score"] | {"seats": []}}, "seats must not be empty"),
    ],
)
def test_a_wrong_description_is_refused_in_little_memory(changes, reason, path):
    tracemalloc.start()
    try:
        assert reason in (refusal(path, with_description(**changes)) or "")
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()


NASTY = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, 1e308, -0.0, "", "x"),
    *([], {}, [[]], ["x"] * 99, {"a": {}}, "\n\x1b[2J", "../../etc", "tic_tac_toe"),
    *("jax_ttt.players", "__import__('os').system('touch sentinel')", "\ud800", "3"),
)


def places(value, above=()):
    """Yield the place of each value in lists and objects."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        yield (*above, key)
        if isinstance(part, dict | list):
            yield from places(part, (*above, key))


def edited(value, draw):
    """Return a copy of an object with a value replaced, removed or added."""
    value = json.loads(json.dumps(value))
    *above, key = draw.choice([*places(value)])
    parent = functools.reduce(lambda part, name: part[name], above, value)
    old, how = parent[key], draw.randrange(4)
    if how == 0:
        del parent[key]
    elif how == 1 and type(old) is int:
        parent[key] = old + draw.choice((-1, 1, 8, 2**20, 2**40))
    elif how == 2 and isinstance(parent, dict):
        parent[draw.choice(("more", "", "__metadata__"))] = draw.choice(NASTY)
    else:
        parent[key] = draw.choice(NASTY)
    return value


@pytest.mark.fault
@settings(max_examples=60)
@given(draw=st.randoms(use_true_random=False))
def test_a_right_checksum_proves_nothing(draw, path):
    """Anybody can compute it: a wrong description is refused, or is a valid one."""
    description = edited(DESCRIPTION, draw)
    refusal(
        path,
        with_description(
            **description | {"format_version": json_records.FORMAT_VERSION}
        ),
    )
