"""Saved agents: what is loaded is what was saved; a wrong description is refused.

`tests/faults/test_damaged_files.py` has damaged files.
"""

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

from jax_ttt.config.errors import AgentError
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, tensor_file
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent, network_from

CONFIG = Config.of(hidden_size=2, num_updates=2, eval_games=0)
GRADE = made.exact((0.5,), (0.25,))
AGENT = Agent.of(CONFIG, tiny.untrained(CONFIG).params, 7, 2, GRADE)
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
    ],
)
def test_what_is_saved_comes_back(fields, tmp_path):
    config = Config.of(**fields)
    shapes = q_network.param_shapes(network_from(config.architecture))
    rng = np.random.default_rng(1)
    params = jax.tree.map(
        lambda x: rng.uniform(-1, 1, x.shape).astype(np.float32), shapes
    )
    agent = Agent.of(config, params, seed=3, num_updates=17, grade=GRADE)
    saved_agents.save_agent(agent, tmp_path / "agent.safetensors")
    loaded = saved_agents.load_agent(tmp_path)  # the folder
    assert (loaded.description, loaded.corrections) == (agent.description, None)
    for saved, leaf in zip(*map(jax.tree.leaves, (params, loaded.params)), strict=True):
        np.testing.assert_array_equal(saved, leaf)
    assert saved_agents.read_env_id(tmp_path / "agent.safetensors") == "tic_tac_toe"


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


@pytest.mark.fault
def test_weights_that_are_not_finite_are_not_saved():
    params = jax.tree.map(lambda x: x * np.float32("nan"), AGENT.params)
    with pytest.raises(FloatingPointError, match="is not finite"):
        saved_agents.agent_bytes(Agent(AGENT.description, params))


HUGE = {"hidden_size": 2**14, "hidden_layers": 16}


@pytest.mark.fault
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": {}}, "don't fit a network for tic_tac_toe"),
        ({"config": {"hidden_size": 16}}, "don't fit a network"),
        pytest.param({"config": HUGE}, "fit", marks=pytest.mark.slow),
        ({"kind": "checkpoint"}, "kind"),
        ({"config": {"env_id": "chess"}}, "made for 'chess', a game that is"),
        ({"seed": 2**32}, "seed"),
        ({"num_updates": -1}, "num_updates"),
        ({"config": {"gamma": 7.0}}, "$.config.gamma"),
        ({"grade": {"env_id": "hex", "first": {}}}, "grade.first"),
        ({"grade": json.loads("[" * 40 + "]" * 40)}, "Expected `object`, got `array`"),
        ({"grade": DESCRIPTION["grade"] | {"seats": []}}, "seats must not be empty"),
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
    None,
    True,
    False,
    0,
    1,
    -1,
    2**31,
    2**63,
    10**30,
    0.5,
    1e308,
    -0.0,
    "",
    "x",
    [],
    {},
    [[]],
    ["x"] * 99,
    {"a": {}},
    "\n\x1b[2J",
    "../../etc",
    "tic_tac_toe",
    "jax_ttt.players",
    "__import__('os').system('touch sentinel')",
    "\ud800",
    "3",
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
    refusal(path, with_description(**description | {"version": json_records.VERSION}))


def with_corrections(columns):
    """Return a file of an agent with these tensors of corrections."""
    tensors = {f"corrections.{name}": column for name, column in columns.items()}
    return tensor_file.encode_tensors(AGENT.description, TENSORS | tensors)


EMPTY_BOARD = sum(1 << 2 * cell for cell in range(9))
KEYS, ACTIONS = np.array([EMPTY_BOARD], "u8"), np.array([4], "u1")


def test_corrections_come_back_beside_the_weights(path):
    assert refusal(path, with_corrections({"keys": KEYS, "actions": ACTIONS})) is None
    loaded = saved_agents.load_agent(path)
    assert loaded.corrections is not None
    assert loaded.corrections.keys.tolist() == [EMPTY_BOARD]
    assert loaded.corrections.actions.tolist() == [4]
    assert loaded.corrections.seats("tic_tac_toe") == ["first"]
    assert saved_agents.agent_bytes(loaded) == path.read_bytes()
    assert refusal(path, CONTENT) is None
    assert saved_agents.load_agent(path).corrections is None


@pytest.mark.fault
@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"keys": KEYS}, "need both keys and actions"),
        ({"actions": ACTIONS}, "need both keys and actions"),
        ({"keys": KEYS.astype("i8"), "actions": ACTIONS}, "another dtype than <u8"),
        ({"keys": KEYS, "actions": ACTIONS.astype("u2")}, "another dtype than |u1"),
        ({"keys": KEYS, "actions": ACTIONS + 5}, "a move of its corrections"),
        ({"keys": KEYS[:0], "actions": ACTIONS[:0]}, "without corrections"),
        ({"keys": KEYS + 2, "actions": ACTIONS}, "not a board of the game"),
        ({"keys": KEYS, "others": ACTIONS}, "need both keys and actions"),
        ({"keys": KEYS, "actions": ACTIONS, "x": KEYS}, "don't fit a network"),
    ],
)
def test_wrong_corrections_are_refused(columns, reason, path):
    assert reason in (refusal(path, with_corrections(columns)) or "")
