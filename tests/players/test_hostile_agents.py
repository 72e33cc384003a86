"""Agents' files that were damaged or made to harm: equal to the original, or refused.

The file is of format 3, in `tests/data`. A file that is refused is refused in one line,
under a second, and in little memory.
"""

import contextlib
import functools
import json
import os
import random
import socket
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import jax
import numpy as np
import pytest
import safetensors.numpy

from jax_ttt.players import agents
from jax_ttt.players.agents import AgentError
from jax_ttt.results import tensor_files
from jax_ttt.runtime import process

FILE = Path(__file__).parents[1] / "data" / "agent-3-tic_tac_toe.safetensors"
WHOLE = FILE.read_bytes()
HEADER = 8 + int.from_bytes(WHOLE[:8], "little")
GROWTH = 200 * 2**20
"""Bytes by which memory may grow while a file is refused."""
NASTY = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, 1e308, -0.0, "", "x"),
    *([], {}, [[]], ["x"] * 99, {"a": {}}, "\n\x1b[2J", "../../etc", "tic_tac_toe"),
    *("jax_ttt.players", "__import__('os').system('touch sentinel')", "\ud800", "3"),
)


@pytest.fixture(scope="module")
def original():
    return agents.load_agent(FILE)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return a path in the current folder, which must stay empty except for it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield tmp_path / "agent.safetensors"
    assert os.listdir(tmp_path / "here") == []
    assert set(os.listdir(tmp_path)) <= {"here", "agent.safetensors"}


def is_same(agent, other):
    leaves = [jax.tree.leaves(each.params) for each in (agent, other)]
    fields = [(a.config, a.seed, a.num_updates, a.score) for a in (agent, other)]
    return fields[0] == fields[1] and all(map(np.array_equal, *leaves))


def loaded(path, content):
    """Return the agent of a file, or None if it is refused as it should be."""
    path.write_bytes(content)
    begun = time.process_time()
    try:
        return agents.load_agent(path)
    except AgentError as error:
        message = str(error)
    assert time.process_time() - begun < 1
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
    _, tensors = tensor_files.contents(FILE)
    if checked:
        return tensor_files.as_bytes(about, tensors)
    text = json.dumps(about, sort_keys=True)
    return safetensors.numpy.save(tensors, {"jax_ttt": text})


def flipped(draw):
    content = bytearray(WHOLE)
    for _ in range(draw.choice((1, 1, 2, 8))):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def truncated(draw):
    return WHOLE[: draw.randrange(len(WHOLE))]


def spliced(draw):
    """Copy a part of the file to another place, or put random bytes there."""
    begin, place = draw.randrange(len(WHOLE)), draw.randrange(len(WHOLE))
    part = WHOLE[begin : begin + draw.randrange(1, 64)]
    part = draw.choice((part, draw.randbytes(len(part)), b"", WHOLE))
    return WHOLE[:place] + part + WHOLE[place + draw.choice((0, len(part))) :]


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


def with_edited_header(draw):
    return with_header(edited(json.loads(WHOLE[8:HEADER]), draw))


def with_edited_about(draw):
    return with_about(edited(tensor_files.description(FILE), draw), checked=False)


MUTATIONS = (flipped, truncated, spliced, with_edited_header, with_edited_about)


def mutated_files_are_equal_or_refused(path, original, count):
    """Check so many mutated files; return how many of them were refused."""
    draw, refused = random.Random(0), 0
    for number in range(count):
        content = MUTATIONS[number % len(MUTATIONS)](draw)
        agent = loaded(path, content)
        refused += agent is None
        assert agent is None or is_same(agent, original), number
    return refused


@pytest.mark.fault
def test_a_mutated_file_is_equal_or_refused(path, original):
    loaded(path, WHOLE)
    tracemalloc.start()
    try:
        assert mutated_files_are_equal_or_refused(path, original, 100) > 90
        assert tracemalloc.get_traced_memory()[1] < GROWTH
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.fault
def test_ten_thousand_mutated_files_are_equal_or_refused(path, original):
    loaded(path, WHOLE)
    with contextlib.suppress(OSError):  # Linux: the peak begins again
        Path("/proc/self/clear_refs").write_text("5")
    before = process.peak_mib() or 0
    assert mutated_files_are_equal_or_refused(path, original, 10_000) > 9_000
    assert (process.peak_mib() or 0) - before < GROWTH / 2**20


@pytest.mark.fault
def test_a_truncated_file_is_refused_at_every_length(path):
    for length in range(len(WHOLE)):
        assert loaded(path, WHOLE[:length]) is None, length


@pytest.mark.fault
def test_no_flipped_bit_is_loaded_as_good(path, original):
    draw = random.Random(1)
    for _ in range(500):
        content, place = bytearray(WHOLE), draw.randrange(len(WHOLE))
        content[place] ^= 1 << draw.randrange(8)
        agent = loaded(path, bytes(content))
        assert agent is None or (place < HEADER and is_same(agent, original))


@pytest.mark.fault
def test_a_changed_digit_of_the_description_is_refused(path):
    for field in (b'seed\\": 7', b'num_updates\\": 2', b'win_rate\\": 0.5'):
        assert WHOLE.count(field) >= 1, field
        other = field[:-1] + bytes([field[-1] ^ 1])
        path.write_bytes(WHOLE.replace(field, other))
        with pytest.raises(AgentError, match="contents were changed"):
            agents.load_agent(path)


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.fault
def test_every_value_of_a_description_may_be_wrong(checked, path, original):
    """A right checksum proves nothing: anybody can compute it."""
    about, draw = tensor_files.description(FILE), random.Random(2)
    for _ in range(250):
        wrong = edited(about, draw)
        if checked:
            wrong |= {"format_version": 3}
        agent = loaded(path, with_about(wrong, checked))
        assert agent is None or checked or is_same(agent, original)


def bombs():
    """Yield files of a few bytes that claim to be large, and the reason to refuse."""
    header = json.loads(WHOLE[8:HEADER])
    about = tensor_files.description(FILE)
    name = next(name for name in header if name.startswith("layers"))
    tensor = header[name]
    yield (10**12).to_bytes(8, "little") + WHOLE[8:], "no header of a possible size"
    yield b"\xff" * 8 + WHOLE[8:], "no header of a possible size"
    for change, why in (
        ({"shape": [2**30, 2**30]}, "offsets of another shape"),
        ({"shape": [2**40]}, "no shape"),
        ({"shape": [2**30] * 31}, "offsets of another shape"),
        ({"shape": [-1]}, "no shape"),
        ({"shape": [8.0]}, "no shape"),
        ({"shape": [True]}, "no shape"),
        ({"shape": [1] * 99}, "no shape"),
        ({"dtype": "F99"}, "unknown dtype"),
        ({"dtype": ["F32"]}, "unknown dtype"),
        ({"data_offsets": [0, 2**62]}, "no offsets"),
        ({"data_offsets": [0]}, "no offsets"),
        ({"data_offsets": [0, 4]}, "offsets of another shape"),
        ({"more": 1}, "no tensor"),
    ):
        yield with_header(header | {name: tensor | change}), why
    yield with_header(header | {"more": tensor}), "offsets of another shape or order"
    without = {key: part for key, part in header.items() if key != name}
    yield with_header(without), "offsets of another shape|are there"
    empty = {"dtype": "F32", "shape": [0, 2**30, 2**30], "data_offsets": [0, 0]}
    yield with_header(header | {"empty": empty}), "don't fit"
    large = {"hidden_size": 2**14, "hidden_layers": 16}
    for sizes, why in (
        ({"hidden_size": 10**9}, "hidden_size must be"),
        ({"hidden_layers": 10**9}, "hidden_layers must be"),
        ({"hidden_size": True}, "hidden_size must be"),
        ({"replay_capacity": 10**18}, "replay_capacity must be"),
        (large, "its architecture does not match"),
    ):
        config = about["config"] | sizes
        yield with_about(about | {"config": config}, checked=True), why
    config = about["config"] | large
    sizes = about["architecture"] | {"hidden_sizes": [2**14] * 16}
    bomb = about | {"config": config, "architecture": sizes}
    yield with_about(bomb, checked=True), "don't fit"
    deep = json.loads("[" * 40 + "]" * 40)
    yield with_about(about | {"score": deep}, checked=True), "nested too deep"
    for text in ("[" * 10**6, "{" * 10**6, " " * 2**21):
        content = len(text).to_bytes(8, "little") + text.encode()
        yield content, "damaged, or not a file of jax_ttt"
    for text, why in (
        (json.dumps(about).replace('"seed": 7', '"seed": NaN'), "NaN is not"),
        (json.dumps(about).replace('"seed": 7', '"seed": 1e999'), "too large"),
        (json.dumps(about).replace('"seed": 7', f'"seed": {"9" * 4000}'), "digits"),
        (json.dumps(about).replace('"seed": 7', '"seed": 7, "seed": 8'), "twice"),
        (json.dumps(about, indent=1), "written in another way"),
    ):
        yield with_header(header | {"__metadata__": {"jax_ttt": text}}), why
    more = header["__metadata__"] | {"loader": "os.system"}
    yield with_header(header | {"__metadata__": more}), "written in another way"


@pytest.mark.parametrize(("content", "why"), [*bombs()], ids=map(str, range(99)))
@pytest.mark.fault
def test_a_bomb_is_refused_before_anything_large_is_made(content, why, path):
    path.write_bytes(content)
    tracemalloc.start()
    begun = time.process_time()
    try:
        with pytest.raises(AgentError, match=why):
            agents.load_agent(path)
        assert tracemalloc.get_traced_memory()[1] < GROWTH
    finally:
        tracemalloc.stop()
    # Half of it is that of `tracemalloc`.
    assert time.process_time() - begun < 2
    assert loaded(path, content) is None


@pytest.mark.fault
def test_a_large_file_is_refused_by_its_size(path):
    """Files that take no space on the disk; only their sizes are read."""
    for size in (2**40, 2**30):
        with path.open("wb") as file:
            file.write(WHOLE)
            file.truncate(size)
        with pytest.raises(AgentError, match=r"larger than|are there"):
            agents.load_agent(path)


@pytest.mark.fault
def test_what_is_no_file_is_refused_without_waiting(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    Path("folder/agent.safetensors").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in ("fifo", "socket", "folder", "/dev/zero", "/dev/null", "/dev/full"):
            with pytest.raises(AgentError, match="not a regular file"):
                agents.load_agent(Path(path))
    Path("empty").touch()
    with pytest.raises(AgentError, match="no header of a possible size"):
        agents.load_agent(Path("empty"))


@pytest.mark.fault
def test_another_game_width_or_version_is_named(path):
    about = tensor_files.description(FILE)
    path.write_bytes(WHOLE)
    with pytest.raises(AgentError, match="made for tic_tac_toe, not for connect_four"):
        agents.load_agent(path, "connect_four")
    wide = about["config"] | {"hidden_size": 16}
    sizes = about["architecture"] | {"hidden_sizes": [16, 16]}
    for changes, why in (
        ({"env_id": "connect_four"}, "its game does not match its settings"),
        ({"env_id": "chess\n"}, r"made for 'chess\\n', which is an unknown game"),
        ({"config": wide}, "its architecture does not match"),
        ({"config": wide, "architecture": sizes}, "its weights don't fit"),
        ({"format_version": 9}, "format version 9; this program reads 1, 2 and 3"),
        ({"format_version": 10**30}, "format version 1000"),
    ):
        path.write_bytes(with_about(about | changes, checked=True))
        with pytest.raises(AgentError, match=why):
            agents.load_agent(path)


@pytest.mark.fault
def test_a_file_of_this_version_does_not_pass_as_an_older_one(path):
    """One flipped bit makes a 2 of the 3."""
    field = b'format_version\\": 3'
    assert field in WHOLE
    for version in (b"1", b"2"):
        path.write_bytes(WHOLE.replace(field, field[:-1] + version))
        with pytest.raises(AgentError, match="were changed after they were saved"):
            agents.load_agent(path)


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
    path.write_bytes(with_about(evil, checked=True))
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(agents.__file__).parents[2])},
    )
    allowed = {"open", "object.__getattr__", "os.fspath"}
    assert set(done.stdout.split()) <= allowed
