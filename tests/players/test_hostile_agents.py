"""Agents' files that somebody made to harm, with a right checksum: refused in one line.

Those that were damaged are in `tests/faults/test_damaged_files.py`.
"""

import functools
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from jax_ttt.players import agents
from jax_ttt.players.agents import AgentError
from jax_ttt.results import plain, tensor_files

FILE = Path(__file__).parents[1] / "data" / "agent-3-tic_tac_toe.safetensors"
WHOLE = FILE.read_bytes()
NASTY = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, 1e308, -0.0, "", "x"),
    *([], {}, [[]], ["x"] * 99, {"a": {}}, "\n\x1b[2J", "../../etc", "tic_tac_toe"),
    *("jax_ttt.players", "__import__('os').system('touch sentinel')", "\ud800", "3"),
)


@pytest.fixture(scope="module")
def original():
    return agents.load_agent(FILE)


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


def loaded(path, content):
    """Return the agent of a file, or None if it is refused as it should be."""
    path.write_bytes(content)
    try:
        return agents.load_agent(path)
    except AgentError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) < len(str(path)) + 400
    return None


def with_about(about):
    """Return the file with another description, and its checksum."""
    _, tensors = tensor_files.contents(FILE)
    return tensor_files.as_bytes(about, tensors)


def places(value, at=()):
    """Yield the place of each value in lists and objects."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        yield (*at, key)
        if isinstance(part, dict | list):
            yield from places(part, (*at, key))


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
@settings(max_examples=100)
@given(draw=st.randoms(use_true_random=False))
def test_a_right_checksum_proves_nothing(draw, path):
    """Anybody can compute it: a wrong description is refused, or is a valid one."""
    about = edited(tensor_files.description(FILE), draw) | {"format_version": 3}
    loaded(path, with_about(about))


@pytest.mark.fault
def test_a_changed_digit_of_the_description_is_refused(path):
    """Also of the version: one flipped bit makes a 2 of the 3."""
    for field in (b'seed\\": 7', b'num_updates\\": 2', b'format_version\\": 3'):
        assert WHOLE.count(field) >= 1, field
        other = field[:-1] + bytes([field[-1] ^ 1])
        path.write_bytes(WHOLE.replace(field, other))
        with pytest.raises(AgentError, match="changed"):
            agents.load_agent(path)


def bombs():
    """Yield files of a few bytes that claim to be large."""
    about = tensor_files.description(FILE)
    settings = plain.field(about, "config", dict)
    config = settings | {"hidden_size": 2**14, "hidden_layers": 16}
    architecture = plain.field(about, "architecture", dict)
    sizes = architecture | {"hidden_sizes": [2**14] * 16}
    yield with_about(about | {"config": config, "architecture": sizes})
    config = settings | {"replay_capacity": 10**18}
    yield with_about(about | {"config": config})
    deep = json.loads("[" * 40 + "]" * 40)
    yield with_about(about | {"score": deep})


@pytest.mark.parametrize("content", [*bombs()], ids=map(str, range(99)))
@pytest.mark.fault
def test_a_bomb_is_refused_before_anything_large_is_made(content, path):
    tracemalloc.start()
    try:
        assert loaded(path, content) is None
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()


def test_what_we_read_safetensors_reads_too(path, original):
    """We check more than the library does, and find the same tensors."""
    theirs = safetensors.numpy.load(WHOLE)
    _, ours = tensor_files.contents(FILE)
    assert theirs.keys() == ours.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(tensor, ours[name])
    agents.save_agent(original, path)
    again = safetensors.numpy.load(path.read_bytes())
    assert again.keys() == theirs.keys()


@pytest.mark.fault
def test_a_file_names_no_code(path):
    """The readers of the file import and run nothing that it names."""
    code = (
        "import sys; from pathlib import Path\n"
        "from jax_ttt.results import tensor_files\n"
        "seen = []; on = []\n"
        "sys.addaudithook(lambda name, args: on and seen.append(name))\n"
        "on.append(1)\n"
        "try: tensor_files.contents(Path(sys.argv[1]))\n"
        "except tensor_files.AgentError: pass\n"
        "on.clear(); print(*sorted(set(seen)))\n"
    )
    about = tensor_files.description(FILE)
    evil = about | {"network": "os.system", "config": {"env_id": "__import__('os')"}}
    path.write_bytes(with_about(evil))
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(agents.__file__).parents[2])},
    )
    allowed = {"open", "object.__getattr__", "os.fspath"}
    assert set(done.stdout.split()) <= allowed
