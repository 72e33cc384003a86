"""Damaged and foreign files of each kind: refused in one line, and nothing is lost.

The kinds are an agent, a run's settings, a checkpoint, its metrics, and a sweep. Those
of a certificate stand in `tests/test_check_certificate.py`.
"""

import functools
import json
import os
import pickle
import random
import shutil
import socket
import tracemalloc
from pathlib import Path

import as_users
import numpy as np
import pytest
import tiny
from as_users import Done
from forged import Forgery
from hypothesis import given
from hypothesis import strategies as st

import jax_ttt
from jax_ttt.files import run_folder
from jax_ttt.players import saved_agents

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


def tensor_changed(field, value):
    """Return a damage of what the header says about one tensor."""

    def edit(header):
        name = next(name for name in header if name != "__metadata__")
        return header | {name: header[name] | {field: value}}

    return header_edited(edit)


def described(text):
    """Return a damage that replaces the description by a text."""
    return header_edited(lambda header: header | {"__metadata__": {"jax_ttt": text}})


def description_changed(**changes):
    """Return a damage of the description that leaves its checksum."""

    def edit(header):
        fields = json.loads(header["__metadata__"]["jax_ttt"]) | changes
        text = json.dumps(fields, sort_keys=True)
        return header | {"__metadata__": {"jax_ttt": text}}

    return header_edited(edit)


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
    "a huge shape": tensor_changed("shape", [2**30, 2**30]),
    "an empty tensor more": header_edited(lambda header: header | {"x": EMPTY}),
    "no tensor": header_edited(lambda header: {"__metadata__": header["__metadata__"]}),
    "no description": header_edited(
        lambda header: {n: header[n] for n in header if n != "__metadata__"}
    ),
    "a description that is a list": described("[]"),
    "a deep description": described("[" * 50_000),
    "a description of another program": header_edited(
        lambda header: header | {"__metadata__": {"format": "pt"}}
    ),
    "another number of updates": description_changed(num_updates=3),
    "another game": replaced(b"tic_tac_toe", b"tic_tac_tow"),
    "a number that is not one": replaced(b": 0.85", b":  NaN"),
    **FOREIGN,
}

# A checkpoint is read by the same functions.
CHECKPOINT = {
    name: SAFETENSORS[name]
    for name in (
        "cut in half",
        "a changed byte",
        "another number of updates",
        "a pickle",
    )
}

# --- JSON: settings, metrics, a sweep ------------------------------------------------

CONFIG = {
    "cut in half": lambda content: content[: len(content) // 2],
    "two objects": lambda content: content * 2,
    "bytes that are not text": replaced(b"default", b"\xff\xfe"),
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

# --- Fields and tensors, where the checksum is right ---------------------------------

AGENT, CHECKPOINT_4 = "agent.safetensors", "checkpoint-4.safetensors"
VERSIONS = [
    ("version", 99, "format 99; this version of jax_ttt reads format 3"),
    ("version", "2", "format 2; this version of jax_ttt reads format 3"),
    ("version", None, "no format version; this version of jax_ttt reads format 3"),
    # These files had the package's version in the field `version`.
    ("format_version", 5, "older format 5; this version of jax_ttt reads format 3"),
]
HUGE = {"hidden_size": 2**14, "hidden_layers": 16}
CODE = "__import__('os').mkdir('owned')"
FIELDS = [
    *(
        (kind, 0, *row)
        for kind in (AGENT, CHECKPOINT_4, "config.json", "sweep.jsonl")
        for row in VERSIONS
    ),
    (AGENT, 0, "config", {}, "don't fit a network for tic_tac_toe"),
    (AGENT, 0, "config", HUGE, "fit"),
    (AGENT, 0, "config.env_id", "chess", "made for 'chess', a game that is"),
    (AGENT, 0, "config.gamma", 7.0, "$.config.gamma"),
    (AGENT, 0, "kind", "checkpoint", "kind"),
    (AGENT, 0, "seed", 2**32, "seed"),
    (AGENT, 0, "num_updates", -1, "num_updates"),
    (AGENT, 0, "grade", {"env_id": "hex", "first": {}}, "grade.first"),
    (AGENT, 0, "grade", json.loads("[" * 40 + "]" * 40), "Expected `object`, got"),
    (AGENT, 0, "grade.seats", [], "seats must not be empty"),
    (CHECKPOINT_4, 0, "kind", "agent", "kind"),
    (CHECKPOINT_4, 0, "update", 1.5, "update"),
    (CHECKPOINT_4, 0, "finished", "maybe", "finished"),
    (CHECKPOINT_4, 0, "settings", None, "settings"),
    (CHECKPOINT_4, 0, "grade", {"env_id": "hex", "first": {}}, "grade.first"),
    ("config.json", 0, "seed", -1, "`int` >= 0 - at `$.seed`"),
    ("config.json", 0, "preset", "none", "preset"),
    ("config.json", 0, "config", None, "Expected `object`, got `null`"),
    ("config.json", 0, "config.gama", 0.9, "gama must be the name of a setting, got"),
    ("config.json", 0, "config.tau", 2.0, "`float` <= 1.0 - at `$.config.tau`"),
    ("config.json", 0, "config.tau", [], "got `array` - at `$.config.tau`"),
    ("config.json", 0, "config.reward_loss", 1.0, "reward_loss must be below 1.0"),
    ("config.json", 0, "config.num_updates", 10**30, "num_updates"),
    ("config.json", 0, "config.num_updates", 10**4000, ""),
    ("config.json", 0, "config.learning_rate", float("nan"), ""),
    ("config.json", 0, "config.opponent", CODE, "opponent"),
    ("metrics.jsonl", 1, "event", "x", "event"),
    ("metrics.jsonl", 1, "update", "x", "update"),
    ("metrics.jsonl", 1, "loss", float("nan"), ""),
    ("metrics.jsonl", 0, "grade", {}, "grade"),
    ("sweep.jsonl", 0, "first_seed", -1, "seed"),
    ("sweep.jsonl", 0, "num_seeds", 0, "seed"),
    ("sweep.jsonl", 0, "preset", "none", "preset"),
    ("sweep.jsonl", 1, "group", "x", "group"),
    ("sweep.jsonl", 1, "group", 1, "it has no agent of combination 1 with seed 1000"),
    ("sweep.jsonl", 1, "agent.seed", 2, "it has no agent of combination 0 with seed 2"),
    ("sweep.jsonl", 1, "agent", {}, "agent"),
]
"""A file's kind, a line of it, a place in the line's record with what stands there
instead, and the words of the refusal."""


def with_field(kind, line, place, value, content):
    """Return a file with another value in a record."""
    if kind in (AGENT, CHECKPOINT_4):
        return Forgery(content).but(place, value).content()
    lines = [content] if kind == "config.json" else content.splitlines(keepends=True)
    record = json.loads(lines[line])
    *above, name = place.split(".")
    functools.reduce(lambda part, key: part[key], above, record)[name] = value
    lines[line] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


FINITE = [
    (AGENT, ""),
    (CHECKPOINT_4, "train_state.params."),
    (CHECKPOINT_4, "train_state.target_params."),
    (CHECKPOINT_4, "train_state.average_params."),
    (CHECKPOINT_4, "train_state.opt_state."),
]
"""How the names of tensors begin that must be finite."""


def with_nan(beginning, content):
    """Return a file with a NaN in its first such tensor."""
    forgery = Forgery(content)
    name = next(name for name in forgery.tensors if name.startswith(beginning))
    tensor = forgery.tensors[name].copy()
    tensor.flat[-1] = np.nan
    forgery.tensors[name] = tensor
    return forgery.content()


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


def read_by(function, path):
    """Read a file by a function; return what a command would report."""
    tracemalloc.start()
    try:
        function(path)
    except jax_ttt.Refused as error:
        assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
        return Done(2, "", f"error: {error}\n")
    finally:
        tracemalloc.stop()
    return Done(0, "", "")


KINDS = {
    AGENT: (lambda path: read_by(jax_ttt.load, path), SAFETENSORS),
    "config.json": (
        lambda path: as_users.run_here("train --quiet --config", path),
        CONFIG,
    ),
    CHECKPOINT_4: (
        lambda path: as_users.run_here("train --quiet --resume", path.parent),
        CHECKPOINT,
    ),
    "metrics.jsonl": (lambda path: as_users.run_here("plot", path.parent), LINES),
    "sweep.jsonl": (lambda path: as_users.run_here("sweep --resume", path), LINES),
}
"""What reads each kind of file, and its damages."""


def damages():
    """Return each kind of file with a damage and the words of its refusal."""
    for kind, (_, by_name) in KINDS.items():
        for name, damage in by_name.items():
            yield pytest.param(kind, damage, [], id=f"{kind} {name}")
    for kind, line, field, value, reason in FIELDS:
        change = functools.partial(with_field, kind, line, field, value)
        # Building so large a network takes seconds.
        marks = [pytest.mark.slow] if value is HUGE else []
        yield pytest.param(
            kind, change, [reason], marks=marks, id=f"{kind} {field} {value}"[:60]
        )
    for kind, beginning in FINITE:
        words = [beginning, "is not finite"]
        yield kind, functools.partial(with_nan, beginning), words


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


@pytest.mark.parametrize(("kind", "damage", "words"), [*damages()])
def test_a_damaged_file_is_refused_and_stays_as_it_is(kind, damage, words, place):
    path, (read, _) = place(kind), KINDS[kind]
    path.write_bytes(damage(path.read_bytes()))
    before = as_users.contents(path.parent)
    done = read(path)
    assert_one_line(done, path)
    as_users.assert_refused(done, *words)
    assert as_users.contents(path.parent) == before


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_a_file_is_refused_without_waiting(kind, place):
    path, (read, _) = place(kind), KINDS[kind]
    for make in NOT_FILES.values():
        path.rmdir() if path.is_dir() else path.unlink()
        make(path)
        names = sorted(os.listdir(path.parent))
        as_users.assert_refused(read(path))
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
    if kind == "metrics.jsonl":  # no row has a checksum: it may be another curve
        assert as_users.run_here("runs", path.parents[1]).code == 0
    else:  # the run of a checkpoint has ended
        agents = [jax_ttt.load(each.with_name(AGENT)) for each in (path, original)]
        assert len({*map(saved_agents.agent_bytes, agents)}) == 1


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
    done = KINDS[kind][0](path)
    if done.code:
        assert_one_line(done, path)
        assert path.read_bytes() == content
    else:
        assert_unchanged(kind, path, original)


# --- Any value of any field ----------------------------------------------------------

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([2**31, 2**63, 10**30, "\ud800", "\x1b[2J", "../../etc", CODE]),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
    max_leaves=5,
)


def places(record, above=()):
    """Yield the place of each field of an object and of the objects in it."""
    for name, part in record.items():
        yield (*above, name)
        if isinstance(part, dict):
            yield from places(part, (*above, name))


def changed(record, data):
    """Return a copy of an object with a field removed, or with any value in it."""
    record = json.loads(json.dumps(record))
    *above, name = data.draw(st.sampled_from([*places(record)]))
    part = functools.reduce(lambda part, key: part[key], above, record)
    if data.draw(st.booleans()):
        del part[name]
    else:
        part[name] = data.draw(VALUES)
    return record


@given(data=st.data())
def test_any_agent_with_a_right_checksum_is_refused_or_an_agent(data, whole, scratch):
    forgery = Forgery((whole / "run" / AGENT).read_bytes())
    forgery.description = changed(forgery.description, data)
    path = scratch / "forged.safetensors"
    path.write_bytes(forgery.content())
    if (done := read_by(jax_ttt.load, path)).code:
        assert_one_line(done, path)
        assert len(done.err) < len(str(path)) + 400


@given(data=st.data())
def test_any_settings_are_refused_or_read(data, whole, scratch):
    settings = json.loads((whole / "run" / "config.json").read_bytes())
    path = scratch / "any-config.json"
    path.write_text(json.dumps(changed(settings, data)))
    if (done := read_by(run_folder.read_settings, path)).code:
        assert_one_line(done, path)
        assert len(done.err) < len(str(path)) + 500
