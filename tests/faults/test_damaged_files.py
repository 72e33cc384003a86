"""Damaged and foreign files of each kind: refused in one line, and nothing is lost.

Each kind of file has at least 40 of them: an agent, a run's settings, a checkpoint, its
metrics, a sweep. Those of a certificate stand in `tests/test_check_certificate.py`.
Nothing here knows how a file is checked; a JSON file is changed wherever it has values.
"""

import gzip
import io
import json
import os
import pickle
import random
import shutil
import socket
import tracemalloc
import zipfile
from pathlib import Path

import as_users
import pytest
import tiny
from as_users import Done
from hypothesis import given, settings
from hypothesis import strategies as st

import jax_ttt

pytestmark = pytest.mark.fault

SWEEP = "--preset table --num-envs 8 --num-updates 8 --num-seeds 2"
MOST_MEMORY = 200 * 2**20
"""Bytes by which memory may grow while a small file is refused."""


class Evil:
    """What a pickle can do: it makes a file where it is read."""

    def __reduce__(self):
        return os.mkdir, ("owned",)


def zipped(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("agent", content)
    return file.getvalue()


def flipped(seed):
    def flip(content):
        place = random.Random(seed).randrange(len(content) * 8)
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        return bytes(changed)

    return flip


def cut(part):
    return lambda content: content[: int(len(content) * part)]


FOREIGN = {
    "nothing": lambda _: b"",
    "a byte": lambda _: b"\n",
    "text": lambda _: b"hello\n" * 100,
    "zeros": lambda _: bytes(10_000),
    "ones": lambda _: b"\xff" * 10_000,
    "random": lambda _: random.Random(1).randbytes(10_000),
    "a pickle": lambda _: pickle.dumps(Evil()),
    "an old pickle": lambda _: b"cos\nmkdir\n(S'owned'\ntR.",
    "a zip": zipped,
    "gzip": gzip.compress,
    "a page": lambda _: b"<!doctype html><title>404</title>\n",
    "behind zeros": lambda content: bytes(8) + content,
    "behind a mark": lambda content: b"\xef\xbb\xbf\xef\xbb\xbf" + content,
    "in UTF-16": lambda content: content.decode("latin-1").encode("utf-16"),
    "control codes": lambda _: b"\x1b[2J\x1b]0;owned\x07\n",
    "surrogates": lambda _: b'{"config": "\\ud800"}\n',
    "an empty object": lambda _: b"{}\n",
    "an empty list": lambda _: b"[]\n",
    "null": lambda _: b"null\n",
    "a number": lambda _: b"3\n",
    "a word": lambda _: b'"tic_tac_toe"\n',
    "lists in lists": lambda _: b"[" * 100_000 + b"\n",
    "objects in objects": lambda _: b'{"a":' * 100_000 + b"\n",
    "closed lists": lambda _: b"[" * 5000 + b"]" * 5000 + b"\n",
}

# --- Safetensors: an agent, a checkpoint ---------------------------------------------


def header_of(content):
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def with_header(text, data):
    text = text.encode() if isinstance(text, str) else text
    return len(text).to_bytes(8, "little") + text + data


def with_tensor(**change):
    """Return a damage that changes what the header says of the largest tensor."""

    def damage(content):
        header, data = header_of(content)
        name = max(header.keys() - {"__metadata__"}, key=lambda n: span(header[n]))
        return with_header(json.dumps(header | {name: header[name] | change}), data)

    return damage


def span(tensor):
    begin, end = tensor["data_offsets"]
    return end - begin


def with_tensors(edit):
    """Return a damage that edits a copy of the header's object, and keeps the data."""

    def damage(content):
        header, data = header_of(content)
        return with_header(json.dumps(edit(header)), data)

    return damage


def named(header):
    return [name for name in header if name != "__metadata__"]


def overlapping(header):
    first, *_ = sorted(named(header), key=lambda name: span(header[name]))
    return header | {"more": header[first]}


def without_one(header):
    first, *_ = named(header)
    return {name: about for name, about in header.items() if name != first}


def metadata(edit):
    return with_tensors(
        lambda header: header | {"__metadata__": edit(header["__metadata__"])}
    )


def texts(old, new):
    """Return a damage that replaces a text in the description."""

    def edit(about):
        changed = {name: text.replace(old, new) for name, text in about.items()}
        assert changed != about
        return changed

    return metadata(edit)


def of_nan(content):
    header, data = header_of(content)
    return with_header(json.dumps(header), b"\xff" * len(data))


SAFETENSORS = {
    **{f"cut {n} of 9": cut(n / 9) for n in range(1, 9)},
    "without its last byte": lambda content: content[:-1],
    "cut in its length": lambda content: content[:5],
    "header only": lambda content: content[: -len(header_of(content)[1])],
    **{f"flipped {n}": flipped(n) for n in range(8)},
    "longer": lambda content: content + b"x",
    "twice": lambda content: content * 2,
    "huge header": lambda content: (2**62).to_bytes(8, "little") + content[8:],
    "longest header": lambda content: b"\xff" * 8 + content[8:],
    "no header": lambda content: bytes(8) + content[8:],
    "header is the file": lambda content: (
        len(content).to_bytes(8, "little") + content[8:]
    ),
    "header of spaces": lambda content: with_header(" " * 2**21, content),
    "header of lists": lambda content: with_header("[" * 10**6, b""),
    "header of objects": lambda content: with_header('{"a":' * 10**5, b""),
    "header is a list": lambda content: with_header("[]", header_of(content)[1]),
    "header is cut": lambda content: with_header("{", header_of(content)[1]),
    "header in Latin-1": lambda content: with_header(b'{"\xe9": 1}', b""),
    "huge shape": with_tensor(shape=[2**30, 2**30]),
    "many sizes": with_tensor(shape=[2**30] * 31),
    "negative shape": with_tensor(shape=[-1]),
    "true as a shape": with_tensor(shape=[True]),
    "shape is a text": with_tensor(shape="8"),
    "no shape": with_tensor(shape=None),
    "unknown numbers": with_tensor(dtype="F99"),
    "other numbers": with_tensor(dtype="F64"),
    "numbers of no text": with_tensor(dtype=3),
    "long offsets": with_tensor(data_offsets=[0, 2**62]),
    "short offsets": with_tensor(data_offsets=[0, 4]),
    "negative offsets": with_tensor(data_offsets=[-4, 4]),
    "offsets backwards": with_tensor(data_offsets=[8, 0]),
    "three offsets": with_tensor(data_offsets=[0, 4, 8]),
    "overlapping": with_tensors(overlapping),
    "an empty one more": with_tensors(
        lambda header: (
            header
            | {"more": {"dtype": "F32", "shape": [0, 2**40], "data_offsets": [0, 0]}}
        )
    ),
    "without a tensor": with_tensors(without_one),
    "without tensors": lambda content: with_header(
        json.dumps({"__metadata__": header_of(content)[0]["__metadata__"]}), b""
    ),
    "no description": with_tensors(
        lambda header: {name: header[name] for name in named(header)}
    ),
    "description is null": metadata(lambda _: None),
    "description of numbers": metadata(dict.fromkeys),
    "description is a text": metadata(lambda _: {"jax_ttt": "hello"}),
    "description is a list": metadata(lambda _: {"jax_ttt": "[]"}),
    "description is deep": metadata(lambda _: {"jax_ttt": "[" * 50_000}),
    "description is empty": metadata(lambda _: {"jax_ttt": "{}"}),
    "other game": texts("tic_tac_toe", "tic_tac_tow"),
    "game that is larger": texts("tic_tac_toe", "connect_four"),
    "not a number": texts("0.85", "NaN"),
    "huge number": texts("0.85", "1e999"),
    "long number": texts("0.85", "9" * 6000),
    "weights that are no numbers": of_nan,
    **FOREIGN,
}

# --- JSON: settings, metrics, a sweep ------------------------------------------------


def leaves(value, at=()):
    """Yield the place of each value in objects that is no object itself."""
    for name, part in value.items():
        if isinstance(part, dict):
            yield from leaves(part, (*at, name))
        else:
            yield (*at, name)


def put(value, at, new):
    """Return a copy of an object with another value at a place."""
    name, *below = at
    return value | {name: put(value[name], below, new) if below else new}


def valued(value, at):
    return valued(value[at[0]], at[1:]) if at else value


def edited(edit, line):
    """Return a damage that edits the object of a file, or of a line of it."""

    def damage(content):
        if line is None:
            return json.dumps(edit(json.loads(content))).encode()
        lines = content.splitlines(keepends=True)
        lines[line] = json.dumps(edit(json.loads(lines[line]))).encode() + b"\n"
        return b"".join(lines)

    return damage


def other_value(number, new, kind=None, below=None):
    """Return an edit of the value `number` of a kind, counted round and round."""

    def edit(record):
        at = () if below is None or below not in record else (below,)
        places = [
            place
            for place in leaves(valued(record, at), at)
            if kind is None or type(valued(record, place)) in kind
        ]
        return put(record, places[number % len(places)], new)

    return edit


NUMBERS = (int, float)


def json_damages(line=None, below=None):
    """Return damages of a JSON file, or of one line of such a file.

    Values are changed in the object `below`, if there is one.
    """

    def value(number, new, kind=None):
        return edited(other_value(number, new, kind, below), line)

    def more(content):
        return edited(lambda record: {**record, below or "seconds": None}, line)(
            content
        )

    return {
        **{f"value {n} is an object": value(n, {"no": 1}) for n in range(0, 25, 3)},
        **{f"number {n} is a text": value(n, "x", NUMBERS) for n in range(0, 25, 4)},
        **{f"number {n} is NaN": value(n, float("nan"), NUMBERS) for n in (0, 5)},
        "number is infinite": value(3, float("inf"), NUMBERS),
        "number is long": value(1, 10**4000, NUMBERS),
        "text is a number": value(0, 7, (str,)),
        "text is another": value(0, "__import__('os').mkdir('owned')", (str,)),
        "text is a list": value(0, [], (str,)),
        "lists in lists": value(0, json.loads("[" * 200 + "]" * 200)),
        "one is null": more,
        "nothing left": edited(lambda _: {}, line),
        "only its first": edited(lambda record: dict([*record.items()][:1]), line),
    }


def version(content):
    """Make the file one of another format, wherever it says its own."""
    lines = content.splitlines(keepends=True) if b"}\n{" in content else [content]
    first = json.loads(lines[0])
    names = [name for name in first if "version" in name and name != "versions"]
    assert names, "the file has no version"
    changed = json.dumps(first | dict.fromkeys(names, 99)).encode() + b"\n"
    return b"".join([changed, *lines[1:]])


CONFIG = {
    **{f"cut {n} of 9": cut(n / 9) for n in range(1, 9)},
    "longer": lambda content: content + b"x",
    "two objects": lambda content: content * 2,
    "with a comment": lambda content: b"// settings\n" + content,
    "bytes that are no text": lambda content: content.replace(b"default", b"\xff\xfe"),
    "other version": version,
    **json_damages(below="config"),
    **{
        f"number {n} is negative": edited(
            other_value(n, -3, NUMBERS, below="config"), None
        )
        for n in (0, 1, 3)
    },
    **{
        f"number {n} is huge": edited(
            other_value(n, 10**30, NUMBERS, below="config"), None
        )
        for n in (0, 1, 4)
    },
    **FOREIGN,
}
# The half of a last line is what a killed process leaves; it is no damage.
LINES = {
    **{
        f"{n} zeros within": lambda content, n=n: content[:n] + bytes(n) + content[n:]
        for n in (1, 9, 200)
    },
    "a line of text": lambda content: content.replace(b"\n", b"\nhello\n", 1),
    "a line of a number": lambda content: content.replace(b"\n", b"\n3\n", 1),
    "a line of a list": lambda content: content.replace(b"\n", b"\n[]\n", 1),
    "a line cut in half": lambda content: content[:200] + b"\n" + content[300:],
    "without its line breaks": lambda content: content.replace(b"\n", b" "),
    "first line cut": lambda content: content[1:],
    "bytes that are no text": lambda content: content.replace(b"update", b"\xff\xfe"),
}
METRICS = {
    **LINES,
    "first half line": cut(1 / 99),
    **{
        f"line {n}: {name}": damage
        for n in (0, 1)
        for name, damage in json_damages(n).items()
        if name != "number is long"  # counts have no end
    },
    **FOREIGN,
}
SWEPT = {
    **LINES,
    "first half line": cut(1 / 99),
    "other version": version,
    **{
        f"first line: {name}": damage
        for name, damage in json_damages(0, below="config").items()
    },
    # It has no texts, and numbers as large as they come; unknown fields are ignored.
    **{
        f"second line: {name}": damage
        for name, damage in json_damages(1).items()
        if not name.startswith("text") and name not in ("number is long", "one is null")
    },
    **FOREIGN,
}


# --- What is no file -----------------------------------------------------------------


def large(path):
    with path.open("wb") as file:
        file.truncate(2**40)  # it takes no space on the disk


def bound(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # such a name is short


NO_FILES = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": bound,
    "a terabyte": large,
    "a link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to a full device": lambda path: path.symlink_to("/dev/full"),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to itself": lambda path: path.symlink_to(path.name),
}


# --- The kinds -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a run that has ended, and with a sweep."""
    folder = tmp_path_factory.mktemp("made")
    before = Path.cwd()
    os.chdir(folder)
    try:
        flags = ["--quiet", "--checkpoint-every", "0.000001", "--run-dir", "run"]
        assert as_users.run_here("train", *tiny.flags(), *flags).code == 0
        assert as_users.run_here("sweep", *SWEEP.split()).code == 0
    finally:
        os.chdir(before)
    (sweep,) = folder.glob("runs/*.jsonl")
    sweep.rename(folder / "sweep.jsonl")
    return folder


def load(path):
    """Read an agent by the public function, as a command would say it."""
    tracemalloc.start()
    try:
        jax_ttt.load(path)
    except jax_ttt.Refused as error:
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
        return Done(2, "", f"error: {error}\n")
    finally:
        tracemalloc.stop()
    return Done(0, "", "")


def of_metrics(path):
    return as_users.run_here("plot", path.parent)


READERS = {
    "agent.safetensors": load,
    "config.json": lambda path: as_users.run_here("train --quiet --config", path),
    "checkpoint-4.safetensors": lambda path: as_users.run_here(
        "train --quiet --resume", path.parent
    ),
    "metrics.jsonl": of_metrics,
    "sweep.jsonl": lambda path: as_users.run_here("sweep --resume", path),
}
DAMAGES = {
    "agent.safetensors": SAFETENSORS,
    "config.json": CONFIG,
    "checkpoint-4.safetensors": SAFETENSORS,
    "metrics.jsonl": METRICS,
    "sweep.jsonl": SWEPT,
}
every_kind = pytest.mark.parametrize("kind", READERS)
ROWS = [(kind, name) for kind, found in DAMAGES.items() for name in found]


@pytest.fixture
def placed(made, tmp_path, monkeypatch):
    """Return a function that prepares a file of a kind, for others to damage it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def place(kind):
        if kind == "sweep.jsonl":
            shutil.copy(made / kind, tmp_path)
            return tmp_path / kind
        shutil.copytree(made / "run", tmp_path / "run")
        for checkpoint in (tmp_path / "run").glob("checkpoint-*"):
            if checkpoint.name != kind:  # it would be taken in its place
                checkpoint.unlink()
        return tmp_path / "run" / kind

    return place


def assert_one_line(done, path):
    as_users.assert_refused(done, path.name)
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1, done.err
    assert done.err[:-1].isprintable()


@pytest.mark.parametrize(("kind", "name"), ROWS, ids=map(" ".join, ROWS))
def test_a_damaged_file_is_refused_and_stays_as_it_is(kind, name, placed):
    path = placed(kind)
    path.write_bytes(DAMAGES[kind][name](path.read_bytes()))
    before = as_users.contents(path.parent)
    assert_one_line(READERS[kind](path), path)
    assert as_users.contents(path.parent) == before
    assert not [*Path.cwd().iterdir()]


@every_kind
@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_file_is_refused_without_waiting(kind, name, placed):
    path = placed(kind)
    path.unlink()
    NO_FILES[name](path)
    names = sorted(os.listdir(path.parent))
    as_users.assert_refused(READERS[kind](path))
    assert sorted(os.listdir(path.parent)) == names
    assert not [*Path.cwd().iterdir()]


def test_there_are_enough_of_each_kind():
    for damages in DAMAGES.values():
        assert len({*damages}) >= 40


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("name", ["a pickle", "cut", "a pipe"])
def test_a_process_refuses_it_too(kind, name, placed):
    path = placed(kind)
    if name == "a pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        damage = cut(0.2) if name == "cut" else FOREIGN[name]
        path.write_bytes(damage(path.read_bytes()))
    given = {
        "agent.safetensors": ("evaluate", path),
        "config.json": ("train --quiet --config", path),
        "checkpoint-4.safetensors": ("train --quiet --resume", path.parent),
        "metrics.jsonl": ("plot", path.parent),
        "sweep.jsonl": ("sweep --resume", path),
    }
    done = as_users.run(*given[kind], cwd=Path.cwd())
    as_users.assert_refused(done, path.name)
    assert not [*Path.cwd().iterdir()]


# --- Any damage ----------------------------------------------------------------------

mutations = st.lists(
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
def scratch(made, tmp_path_factory):
    """Return an empty folder to work in; nothing may be left in it but `path`."""
    folder = tmp_path_factory.mktemp("scratch")
    (folder / "here").mkdir()
    before = Path.cwd()
    os.chdir(folder / "here")
    yield folder
    os.chdir(before)
    assert not [*(folder / "here").iterdir()]


@given(mutation=mutations)
@settings(max_examples=200)
def test_any_damage_of_an_agent_is_noticed(mutation, made, scratch):
    """What is read all the same is the agent that was saved."""
    whole, path = (made / "run/agent.safetensors").read_bytes(), scratch / "agent"
    content = mutated(whole, mutation)
    path.write_bytes(content)
    done = load(path)
    if done.code:
        assert_one_line(done, path)
    else:
        jax_ttt.save(jax_ttt.load(path), scratch / "again")
        jax_ttt.save(jax_ttt.load(made / "run/agent.safetensors"), scratch / "first")
        assert (scratch / "again").read_bytes() == (scratch / "first").read_bytes()
    assert path.read_bytes() == content


@given(mutation=mutations)
@settings(max_examples=60)
def test_any_damage_of_settings_is_refused_or_gives_settings(mutation, made, scratch):
    """No setting has a check sum: another digit may give other settings."""
    path = scratch / "config.json"
    content = mutated((made / "run/config.json").read_bytes(), mutation)
    path.write_bytes(content)
    # The folder is refused in any case, so that nothing is ever trained.
    done = as_users.run_here("train --run-dir /dev/null/x --config", path)
    as_users.assert_refused(done)
    assert as_users.names(done.err, "config.json") or as_users.names(done.err, "--")
    assert path.read_bytes() == content
    assert as_users.run_here("runs", scratch).code == 0


@given(mutation=mutations)
@settings(max_examples=60)
def test_any_damage_of_a_checkpoint_is_noticed(mutation, made, scratch):
    """What is read all the same says that the run has ended."""
    path = scratch / "run/checkpoint-4.safetensors"
    if not path.exists():
        shutil.copytree(made / "run", path.parent)
        (path.parent / "checkpoint-2.safetensors").unlink()
    content = mutated((made / "run" / path.name).read_bytes(), mutation)
    path.write_bytes(content)
    done = as_users.run_here("train --quiet --resume", path.parent)
    if done.code:
        assert_one_line(done, path)
    assert path.read_bytes() == content
    agent = "agent.safetensors"
    assert (path.parent / agent).read_bytes() == (made / "run" / agent).read_bytes()


@pytest.mark.slow
@given(mutation=mutations)
def test_any_damage_of_metrics_is_refused_or_gives_metrics(mutation, made, scratch):
    """No row has a check sum: another digit may give another curve."""
    path = scratch / "run/metrics.jsonl"
    if not path.exists():
        shutil.copytree(made / "run", path.parent)
    content = mutated((made / "run" / path.name).read_bytes(), mutation)
    path.write_bytes(content)
    done = as_users.run_here("plot", path.parent)
    if done.code:
        assert_one_line(done, path)
    assert path.read_bytes() == content
    assert as_users.run_here("runs", scratch).code == 0


@pytest.mark.slow
@given(mutation=mutations)
def test_any_damage_of_a_sweep_is_noticed(mutation, made, scratch):
    """But at its end: what is after the last whole line is trained again."""
    path = scratch / "sweep.jsonl"
    whole = (made / path.name).read_bytes()
    content = mutated(whole, mutation)
    path.write_bytes(content)
    done = as_users.run_here("sweep --resume", path)
    if done.code:
        assert_one_line(done, path)
        assert path.read_bytes() == content
    else:
        assert as_users.timeless_lines(path) == as_users.timeless_lines(
            made / path.name
        )


# --- What is next to a damaged file --------------------------------------------------


def test_a_folder_whose_settings_are_damaged_is_no_run(made, scratch):
    """The list of the runs leaves it out."""
    for name in ("good", "bad"):
        shutil.copytree(made / "run", scratch / "runs" / name)
    (scratch / "runs/bad/config.json").write_bytes(b"\xff")
    done = as_users.run_here("runs --json", scratch / "runs")
    (run,) = json.loads(done.out)["runs"]
    assert "good" in json.dumps(run)


@pytest.mark.parametrize("name", ["cut 4 of 9", "flipped 3", "nothing", "huge shape"])
def test_a_damaged_checkpoint_is_reported_and_the_one_before_is_taken(
    name, made, tmp_path, monkeypatch
):
    """The run ends as it did; what was damaged is written again."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made / "run", "run")
    path = Path("run/checkpoint-4.safetensors")
    path.write_bytes(SAFETENSORS[name](path.read_bytes()))
    done = as_users.run_here("train --quiet --resume run")
    assert done.code == 0
    assert as_users.names(done.err, path.name)
    assert "Traceback" not in done.err
    for agent in (Path("run/agent.safetensors"), made / "run/agent.safetensors"):
        assert jax_ttt.load(agent).num_updates == 4
    whole = (made / "run/agent.safetensors").read_bytes()
    assert Path("run/agent.safetensors").read_bytes() == whole
