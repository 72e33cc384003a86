"""Agents' files that somebody made to harm: refused in one line and in little memory.

Those that were damaged are in `tests/faults/test_damaged_files.py`.
"""

import functools
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import made
import pytest
import safetensors.numpy
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from jax_ttt.config.settings import Config
from jax_ttt.files import records, tensor_file
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import AgentError, SavedAgent

CONFIG = Config.of(hidden_size=2, num_updates=2, eval_games=0)
GRADE = made.exact((0.5,), (0.25,))
WHOLE = saved_agents.agent_bytes(
    SavedAgent(CONFIG, tiny.untrained(CONFIG).params, 7, 2, GRADE)
)
HEADER = 8 + int.from_bytes(WHOLE[:8], "little")
ABOUT = json.loads(json.loads(WHOLE[8:HEADER])["__metadata__"]["jax_ttt"])
TENSORS = safetensors.numpy.load(WHOLE)
NASTY = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, 1e308, -0.0, "", "x"),
    *([], {}, [[]], ["x"] * 99, {"a": {}}, "\n\x1b[2J", "../../etc", "tic_tac_toe"),
    *("jax_ttt.players", "__import__('os').system('touch sentinel')", "\ud800", "3"),
)


@pytest.fixture(scope="module")
def original(path):
    path.write_bytes(WHOLE)
    return saved_agents.load_agent(path)


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
        return saved_agents.load_agent(path)
    except AgentError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) < len(str(path)) + 400
    return None


def with_header(header):
    """Return the file with another header, which its first bytes give the length of."""
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + WHOLE[HEADER:]


def with_about(about, checked):
    """Return the file with another description, and if `checked` its checksum."""
    if checked:
        about = {name: value for name, value in about.items() if name != "sha256"}
        about["sha256"] = tensor_file._digest(about, TENSORS)
    text = json.dumps(about, sort_keys=True)
    return safetensors.numpy.save(TENSORS, {"jax_ttt": text})


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
    about = edited(ABOUT, draw) | {"format_version": records.FORMAT_VERSION}
    loaded(path, with_about(about, checked=True))


@pytest.mark.fault
def test_a_changed_digit_of_the_description_is_refused(path):
    for field in (b'seed\\": 7', b'num_updates\\": 2', b'games\\": 0'):
        assert WHOLE.count(field) >= 1, field
        other = field[:-1] + bytes([field[-1] ^ 1])
        path.write_bytes(WHOLE.replace(field, other))
        with pytest.raises(AgentError, match="changed"):
            saved_agents.load_agent(path)


def bombs():
    """Yield files of a few bytes that claim to be large."""
    header = json.loads(WHOLE[8:HEADER])
    name = next(name for name in header if name.startswith("layers"))
    tensor = header[name]
    yield (10**12).to_bytes(8, "little") + WHOLE[8:]
    for change in (
        {"shape": [2**30, 2**30]},
        {"shape": [2**30] * 31},
        {"shape": [-1]},
        {"shape": [True]},
        {"dtype": "F99"},
        {"data_offsets": [0, 2**62]},
        {"data_offsets": [0, 4]},
    ):
        yield with_header(header | {name: tensor | change})
    yield with_header(header | {"more": tensor})
    empty = {"dtype": "F32", "shape": [0, 2**30, 2**30], "data_offsets": [0, 0]}
    yield with_header(header | {"empty": empty})
    settings = ABOUT["config"]
    config = settings | {"hidden_size": 2**14, "hidden_layers": 16}
    yield with_about(ABOUT | {"config": config}, checked=True)
    config = settings | {"replay_capacity": 10**18}
    yield with_about(ABOUT | {"config": config}, checked=True)
    deep = json.loads("[" * 40 + "]" * 40)
    yield with_about(ABOUT | {"score": deep}, checked=True)
    for text in ("[" * 10**6, "{" * 10**6, " " * 2**21):
        yield len(text).to_bytes(8, "little") + text.encode()
    for value in ("NaN", "1e999", "9" * 4000, '7, "seed": 8'):
        text = json.dumps(ABOUT).replace('"seed": 7', f'"seed": {value}')
        yield with_header(header | {"__metadata__": {"jax_ttt": text}})


@pytest.mark.parametrize("content", [*bombs()], ids=map(str, range(99)))
@pytest.mark.fault
def test_a_bomb_is_refused_before_anything_large_is_made(content, path):
    tracemalloc.start()
    try:
        assert loaded(path, content) is None
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.fault
def test_a_file_names_no_code(path):
    """The readers of the file import and run nothing that it names."""
    code = (
        "import sys; from pathlib import Path\n"
        "from jax_ttt.files import agent_file\n"
        "seen = []; on = []\n"
        "sys.addaudithook(lambda name, args: on and seen.append(name))\n"
        "on.append(1)\n"
        "try: agent_file.read_agent(Path(sys.argv[1]))\n"
        "except agent_file.AgentError: pass\n"
        "on.clear(); print(*sorted(set(seen)))\n"
    )
    evil = ABOUT | {"network": "os.system", "config": {"env_id": "__import__('os')"}}
    path.write_bytes(with_about(evil, checked=True))
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(saved_agents.__file__).parents[2])},
    )
    allowed = {"open", "object.__getattr__", "os.fspath"}
    assert set(done.stdout.split()) <= allowed
