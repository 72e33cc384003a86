"""Damaged and foreign files of each kind: refused in one line, and nothing is lost.

The kinds are an agent, a run's settings, a checkpoint, its metrics, and a sweep. Those
of a certificate stand in `tests/test_check_certificate.py`.
"""

import json
import os
import pickle
import random
import shutil
import socket
import tracemalloc
from pathlib import Path

import as_users
import pytest
import tiny
from as_users import Done
from hypothesis import given
from hypothesis import strategies as st

import jax_ttt

pytestmark = pytest.mark.fault

MAX_MEMORY = 200 * 2**20
"""Bytes by which memory may grow while a small file is refused."""


class Evil:
    """What a pickle can do: it makes a file where it is read."""

    def __reduce__(self):
        return os.mkdir, ("owned",)


FOREIGN = {
    "nothing": lambda _: b"",
    "zeros": lambda _: bytes(10_000),
    "random": lambda _: random.Random(1).randbytes(10_000),
    "a pickle": lambda _: pickle.dumps(Evil()),
    "a page": lambda _: b"<!doctype html><title>404</title>\n",
    "in UTF-16": lambda content: content.decode("latin-1").encode("utf-16"),
    "control codes": lambda _: b"\x1b[2J\x1b]0;owned\x07\n",
    "an empty object": lambda _: b"{}\n",
    "a number": lambda _: b"3\n",
    "lists in lists": lambda _: b"[" * 100_000 + b"\n",
}


def replaced(old, new):
    """Return a damage that replaces some bytes once."""

    def damage(content):
        assert old in content
        return content.replace(old, new, 1)

    return damage


# --- Safetensors: an agent, a checkpoint ---------------------------------------------


def with_header(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def header_edited(edit):
    """Return a damage that edits the header's object, and keeps the data."""

    def damage(content):
        end = 8 + int.from_bytes(content[:8], "little")
        return with_header(edit(json.loads(content[8:end])), content[end:])

    return damage


def tensor_changed(**changes):
    """Return a damage of what the header says about one tensor."""

    def edit(header):
        name = next(name for name in header if name != "__metadata__")
        return header | {name: header[name] | changes}

    return header_edited(edit)


def described(text):
    """Return a damage that replaces the description by a text."""
    return header_edited(lambda header: header | {"__metadata__": {"jax_ttt": text}})


EMPTY = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
SAFETENSORS = {
    "cut in half": lambda content: content[: len(content) // 2],
    "without its last byte": lambda content: content[:-1],
    "cut in its length": lambda content: content[:5],
    "longer": lambda content: content + b"x",
    "a changed byte": lambda content: content[:-9] + b"\xfe" + content[-8:],
    "a huge header": lambda content: (2**62).to_bytes(8, "little") + content[8:],
    "no header": lambda content: bytes(8) + content[8:],
    "a header of lists": lambda _: with_header(b"[" * 10**6, b""),
    "a huge shape": tensor_changed(shape=[2**30, 2**30]),
    "a negative shape": tensor_changed(shape=[-1]),
    "a shape that is a text": tensor_changed(shape="8"),
    "an unknown dtype": tensor_changed(dtype="F99"),
    "long offsets": tensor_changed(data_offsets=[0, 2**62]),
    "offsets backwards": tensor_changed(data_offsets=[8, 0]),
    "an empty tensor more": header_edited(lambda header: header | {"x": EMPTY}),
    "no tensor": header_edited(lambda header: {"__metadata__": header["__metadata__"]}),
    "no description": header_edited(
        lambda header: {n: header[n] for n in header if n != "__metadata__"}
    ),
    "a description that is a list": described("[]"),
    "a deep description": described("[" * 50_000),
    "another game": replaced(b"tic_tac_toe", b"tic_tac_tow"),
    "a number that is not one": replaced(b": 0.85", b":  NaN"),
    **FOREIGN,
}

# A checkpoint is read by the same functions.
CHECKPOINT = {
    name: SAFETENSORS[name]
    for name in (
        "cut in half",
        "without its last byte",
        "a changed byte",
        "a huge shape",
        "no tensor",
        "no description",
        "a description that is a list",
        "nothing",
        "a pickle",
        "an empty object",
    )
}

# --- JSON: settings, metrics, a sweep ------------------------------------------------


def fields_changed(line, *places, **changes):
    """Return a damage of an object in a file's line; `places` lead to its part."""

    def damage(content):
        lines = content.splitlines(keepends=True) if line is not None else [content]
        record = json.loads(lines[line or 0])
        part = record
        for place in places:
            part = part[place]
        part |= changes
        lines[line or 0] = json.dumps(record).encode() + b"\n"
        return b"".join(lines)

    return damage


CONFIG = {
    "cut in half": lambda content: content[: len(content) // 2],
    "two objects": lambda content: content * 2,
    "bytes that are not text": replaced(b"default", b"\xff\xfe"),
    "another version": fields_changed(None, version=99),
    "no settings": fields_changed(None, config=None),
    "a seed that is a text": fields_changed(None, seed="x"),
    "an unknown setting": fields_changed(None, "config", owned=1),
    "a setting that is an object": fields_changed(None, "config", num_envs={"no": 1}),
    "a negative number": fields_changed(None, "config", num_envs=-3),
    "a huge number": fields_changed(None, "config", num_updates=10**30),
    "a long number": fields_changed(None, "config", num_updates=10**4000),
    "NaN": fields_changed(None, "config", learning_rate=float("nan")),
    "a list for a text": fields_changed(None, "config", env_id=[]),
    "code": fields_changed(None, "config", opponent="__import__('os').mkdir('owned')"),
    **FOREIGN,
}
# The half of a last line is what a killed process leaves; it is not a damage.
LINES = {
    "half a line only": lambda content: content[:20],
    "zeros within": lambda content: content[:9] + bytes(9) + content[9:],
    "a line of text": replaced(b"\n", b"\nhello\n"),
    "a line of a list": replaced(b"\n", b"\n[]\n"),
    "a line cut in half": lambda content: content[:200] + b"\n" + content[300:],
    "without its line breaks": lambda content: content.replace(b"\n", b" "),
    "bytes that are not text": replaced(b"update", b"\xff\xfe"),
    **FOREIGN,
}
METRICS = {
    **LINES,
    "an unknown event": fields_changed(1, event="x"),
    "a count that is a text": fields_changed(1, update="x"),
    "a number that is NaN": fields_changed(1, loss=float("nan")),
    "a grade of nothing": fields_changed(0, grade={}),
}
SWEPT = {
    **LINES,
    "another version": fields_changed(0, version=99),
    "no seeds": fields_changed(0, num_seeds=0),
    "a negative setting": fields_changed(0, "config", num_envs=-3),
    "a group that is a text": fields_changed(1, group="x"),
    "an agent of nothing": fields_changed(1, agent={}),
}

# --- What is not a file --------------------------------------------------------------


def make_terabyte(path):
    with path.open("wb") as file:
        file.truncate(2**40)  # it takes no space on the disk


def bind_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # such a name is short


NOT_FILES = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": bind_socket,
    "a terabyte": make_terabyte,
    "a link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
}

# --- The kinds -----------------------------------------------------------------------


def load(path):
    """Load an agent by the public function, as a command would report it."""
    tracemalloc.start()
    try:
        jax_ttt.load(path)
    except jax_ttt.Refused as error:
        assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
        return Done(2, "", f"error: {error}\n")
    finally:
        tracemalloc.stop()
    return Done(0, "", "")


READERS = {
    "agent.safetensors": load,
    "config.json": lambda path: as_users.run_here("train --quiet --config", path),
    "checkpoint-4.safetensors": lambda path: as_users.run_here(
        "train --quiet --resume", path.parent
    ),
    "metrics.jsonl": lambda path: as_users.run_here("plot", path.parent),
    "sweep.jsonl": lambda path: as_users.run_here("sweep --resume", path),
}
DAMAGES = {
    "agent.safetensors": SAFETENSORS,
    "config.json": CONFIG,
    "checkpoint-4.safetensors": CHECKPOINT,
    "metrics.jsonl": METRICS,
    "sweep.jsonl": SWEPT,
}
ROWS = [(kind, name) for kind, damages in DAMAGES.items() for name in damages]


@pytest.fixture(scope="module")
def whole(tmp_path_factory, tiny_run):
    """Return a folder with a run that has ended, and with a sweep."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shutil.copytree(tiny_run[0], "run")
        assert as_users.run_here("sweep", *tiny.flags(), "--num-seeds", 2).code == 0
    (sweep,) = folder.glob("runs/*.jsonl")
    sweep.rename(folder / "sweep.jsonl")
    return folder


def copy_of(kind, whole, folder):
    """Return the path of a copy of a kind of file, with the files beside it."""
    if kind == "sweep.jsonl":
        return Path(shutil.copy(whole / kind, folder))
    run = shutil.copytree(whole / "run", folder / "run")
    for checkpoint in run.glob("checkpoint-*"):
        if checkpoint.name != kind:  # it would be used in its place
            checkpoint.unlink()
    return run / kind


@pytest.fixture
def place(whole, tmp_path, monkeypatch):
    """Return a function that copies a kind of file, and look for files made here."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield lambda kind: copy_of(kind, whole, tmp_path)
    assert not [*Path.cwd().iterdir()]


def assert_one_line(done, path):
    as_users.assert_refused(done, path.name)
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1, done.err
    assert done.err[:-1].isprintable()


@pytest.mark.parametrize(("kind", "name"), ROWS, ids=map(" ".join, ROWS))
def test_a_damaged_file_is_refused_and_stays_as_it_is(kind, name, place):
    path = place(kind)
    path.write_bytes(DAMAGES[kind][name](path.read_bytes()))
    before = as_users.contents(path.parent)
    assert_one_line(READERS[kind](path), path)
    assert as_users.contents(path.parent) == before


@pytest.mark.parametrize("kind", READERS)
def test_what_is_not_a_file_is_refused_without_waiting(kind, place):
    path = place(kind)
    for make in NOT_FILES.values():
        path.rmdir() if path.is_dir() else path.unlink()
        make(path)
        names = sorted(os.listdir(path.parent))
        as_users.assert_refused(READERS[kind](path))
        assert sorted(os.listdir(path.parent)) == names


# --- Any damage ----------------------------------------------------------------------

MUTATIONS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True), st.integers(0, 12), st.binary(max_size=12)
    ),
    min_size=1,
    max_size=3,
)
"""Places, as parts of the file; how many bytes go there; what comes there."""


def mutated(content, mutation):
    for place, length, new in mutation:
        begin = int(place * len(content))
        content = content[:begin] + new + content[begin + length :]
    return content


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """Return an empty folder to work in; nothing may be made beside it."""
    folder = tmp_path_factory.mktemp("scratch")
    (folder / "here").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "here")
        yield folder
    assert not [*(folder / "here").iterdir()]


def assert_unchanged(kind, path, original):
    """Check what was read of a file all the same, since its damage does not count."""
    match kind:
        case "agent.safetensors":
            for source, name in ((path, "one"), (original, "other")):
                jax_ttt.save(jax_ttt.load(source), path.with_name(name))
            one, other = (path.with_name(name) for name in ("one", "other"))
            assert one.read_bytes() == other.read_bytes()
        case "checkpoint-4.safetensors":  # the run has ended
            agents = (p.with_name("agent.safetensors") for p in (path, original))
            assert len({agent.read_bytes() for agent in agents}) == 1
        case "metrics.jsonl":  # no row has a checksum: it may be another curve
            assert as_users.run_here("runs", path.parents[1]).code == 0


@pytest.mark.parametrize(
    "kind",
    [
        "agent.safetensors",
        "checkpoint-4.safetensors",
        pytest.param("metrics.jsonl", marks=pytest.mark.slow),
    ],
)
@given(mutation=MUTATIONS)
def test_any_damage_is_refused_or_changes_nothing(kind, mutation, whole, scratch):
    folder = scratch / kind
    if not folder.exists():
        folder.mkdir()
        copy_of(kind, whole, folder)
    path = next(path for path in folder.rglob(kind) if path.is_file())
    original = whole / path.relative_to(folder)
    content = mutated(original.read_bytes(), mutation)
    path.write_bytes(content)
    done = READERS[kind](path)
    if done.code:
        assert_one_line(done, path)
        assert path.read_bytes() == content
    else:
        assert_unchanged(kind, path, original)
