"""The page of files and JSON: its tables are the records', and what is written fits."""

import contextlib
import dataclasses
import importlib
import io
import json
import re
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
import safetensors
import tiny

from jax_ttt import arena, evaluate, published, runs, sweep
from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.reports import export
from jax_ttt.results import certificates, commands, exam, grades, plain, rows

train = importlib.import_module("jax_ttt.train")

PAGE = (Path(__file__).parents[1] / "docs" / "files.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### (.+)\n((?:(?!^##).*\n)*)", PAGE, re.MULTILINE))
"""What stands below each heading of the third level."""
LINK = re.compile(r"\[([\w ]+)\]\(#[\w-]+\)")
NAMED = {float: "number", int: "integer", bool: "boolean", str: "text", object: "any"}
KINDS = {"number": (int, float), "integer": (int,), "boolean": (bool,), "text": (str,)}
FILES = {
    *("Config file", "Device", "Times file", "Agent file", "Snapshots file"),
    *("Checkpoint file", "Sweep file"),
}
TINY = tiny.flags("num_envs", "hidden_size", "num_updates")


def records():
    """Return every record that is written, by its name."""
    found: dict[str, Any] = {"Decision": export.Decision}
    for module in (grades, exam, rows, commands, certificates):
        for name, kind in vars(module).items():
            if dataclasses.is_dataclass(kind) and kind is not rows.Step:
                found[name] = kind
    return found


def own_fields(section):
    """Return the rows of a section's table: type and range, by field."""
    cells = re.findall(r"^\| `(\w+)` \|([^|]*)\|([^|]*)\|", SECTIONS[section], re.M)
    return {field: (kind.strip(), span.strip()) for field, kind, span in cells}


def included(section):
    """Return the sections whose fields a section has too."""
    return LINK.findall(SECTIONS[section].partition("|---|")[0])


def fields(section):
    """Return type and range of all fields of a section."""
    found = {}
    for other in included(section):
        found |= fields(other)
    return found | own_fields(section)


def shown(hint):
    """Return how the page shows a type."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in NAMED:
        return NAMED[hint]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    if origin is Literal:
        *words, last = (f"`{word}`" for word in args)
        return f"{', '.join(words)} or {last}" if words else last
    if origin in (Union, types.UnionType):
        return f"{shown(args[0])} or null"
    if origin is dict:
        return f"by {'seat' if args[0] == Seat else 'name'}: {shown(args[1])}"
    if hint == grades.Interval:
        return "[low, high]"
    assert args[1] is Ellipsis
    return f"list of {shown(args[0])}"


def shown_field(kind, name):
    """Return how the page shows a field, which is left out where it is None."""
    hint = get_type_hints(kind)[name]
    if type(None) not in get_args(hint):
        return shown(hint)
    return f"{shown(get_args(hint)[0])}, optional"


def test_the_page_has_each_record_and_no_other():
    assert SECTIONS.keys() == records().keys() | FILES


@pytest.mark.parametrize("name", records())
def test_a_records_table_has_its_own_fields_and_names_the_others(name):
    kind = records()[name]
    names = [field for field in kind.__annotations__ if field != "OLD_NAMES"]
    own = {field: kind for field, (kind, _) in own_fields(name).items()}
    assert own == {field: shown_field(kind, field) for field in names}
    bases = {base.__name__ for base in kind.__bases__ if base is not object}
    assert set(included(name)) == bases - {"Step"}
    assert fields(name).keys() == {field.name for field in dataclasses.fields(kind)}


def parts(value, kind):
    """Return where the parts of a list or an object stand, the parts, and their type.

    None for what has no parts, or is no such list or object.
    """
    if kind.startswith("list of ") and isinstance(value, list):
        of = kind.removeprefix("list of ")
        return [(f"[{i}]", part, of) for i, part in enumerate(value)]
    if kind == "[low, high]" and value == sorted(value) and len(value) == 2:
        return [("", end, "number") for end in value]
    if kind.startswith("by name: ") and isinstance(value, dict):
        of = kind.removeprefix("by name: ")
        return [(f".{name}", part, of) for name, part in value.items()]
    if kind.startswith("by seat: ") and set(value) <= set(SEATS):
        of = kind.removeprefix("by seat: ")
        return [(f".{seat}", part, of) for seat, part in value.items()]
    return None


def faults(value, kind, span):
    """Yield what is wrong with a value of this type and range of the page."""
    if (inner := parts(value, kind)) is not None:
        for path, part, of in inner:
            yield from (f"{path}{fault}" for fault in faults(part, of, span))
    elif (link := LINK.fullmatch(kind)) and isinstance(value, dict):
        yield from faults_of_object(value, link[1])
    elif not is_of(value, kind):
        yield f": {value!r} is no {kind}"
    elif not is_within(value, span):
        yield f": {value} is not {span}"


def is_of(value, kind):
    """Return whether a value without parts is of a type of the page."""
    if words := re.findall(r"`(\w+)`", kind):
        return value in words
    if value is None and kind.endswith(" or null"):
        return True
    kind = kind.removesuffix(" or null")
    if isinstance(value, bool):
        return kind in ("boolean", "any")
    return kind == "any" or isinstance(value, KINDS.get(kind, ()))


def is_within(value, span):
    """Return whether a number is in a range of the page, up to float32's rounding."""
    if ends := re.match(r"(\d+) to (\d+)", span):
        return int(ends[1]) - 1e-6 <= value <= int(ends[2]) + 1e-6
    if low := re.match(r"from (\d+)", span):
        return value >= int(low[1])
    return True


def faults_of_object(value, section):
    """Yield the fields of an object that are not as the section says."""
    known = fields(section)
    needed = {name for name, (kind, _) in known.items() if "optional" not in kind}
    for name in value.keys() - known.keys():
        yield f".{name}: not on the page"
    for name in needed - value.keys():
        yield f".{name}: not written"
    for name in value.keys() & known.keys():
        kind, span = known[name]
        for fault in faults(value[name], kind.removesuffix(", optional"), span):
            yield f".{name}{fault}"


def printed(command, *flags):
    """Return the JSON object that a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert command.main([*map(str, flags), "--json"]) == 0
    assert out.getvalue().count("\n") == 1
    return json.loads(out.getvalue())


def of_run(run):
    """Yield the objects in the files of a run, each with its section."""
    for line in (run / "metrics.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        yield "Chunk" if row["event"] == "chunk" else "Evaluated", row
    for section, name in (("Config file", "config.json"), ("Times file", "times.json")):
        yield section, json.loads((run / name).read_text("utf-8"))
    for section in ("Agent file", "Snapshots file", "Checkpoint file"):
        kind = section.split()[0].lower()
        for path in run.glob(f"{kind}*.safetensors"):  # snapshots only if exact
            with safetensors.safe_open(path, framework="numpy") as file:
                yield section, json.loads(file.metadata()["jax_ttt"])


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return JSON objects that are written, each with the name of its section."""
    folder = tmp_path_factory.mktemp("files")
    run, policy = folder / "run", folder / "policy.json"
    few = ["--eval-every", "2", "--eval-games", "8", "--run-dir"]
    full = [run, "--games", "8", "--policy-json", policy]
    certificate = ["--certificate", folder / "certificate.json"]
    found = [
        ("TrainResult", printed(train, *TINY, *few, run)),
        *of_run(run),
        ("EvaluateResult", printed(evaluate, *full)),
        ("EvaluateResult", printed(evaluate, "random")),
        ("EvaluateResult", printed(evaluate, "minimax-first", *certificate)),
        ("Certificate", json.loads(certificate[1].read_text("utf-8"))),
        ("RunsResult", printed(runs, folder)),
        *(("Decision", row) for row in json.loads(policy.read_text("utf-8"))),
    ]
    several = ["--num-seeds", "1", "--grid", "tau=0.1,0.2"]
    found.append(("SweepResult", printed(sweep, *TINY, *several)))
    pair = ["random", "mcts-online:2", "--games", "4"]
    found.append(("ArenaResult", printed(arena, *pair)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(published.PRESETS, "go-second", tiny.CONFIG)
        flags = ["--only", "go-second", "--num-seeds", "1"]
        found.append(("PublishedResult", printed(published, *flags)))
    return found


@pytest.mark.slow
def test_what_is_written_is_as_the_page_says(written):
    found = [
        f"{n}{fault}" for n, value in written for fault in faults_of_object(value, n)
    ]
    assert found == []
    needed = {"Chunk", "Evaluated", "SweepResult"}
    needed |= {"Agent file", "Snapshots file", "Checkpoint file"}
    assert {name for name, _ in written} >= needed


@pytest.mark.slow
def test_where_nothing_is_exact_the_same_fields_are_written(tmp_path):
    """And an exact rate outside its interval is named as the page says."""
    few = ["--eval-games", "8", "--env-id", "connect_4x4", "--run-dir"]
    found = [
        ("TrainResult", printed(train, *TINY, *few, tmp_path / "run")),
        *of_run(tmp_path / "run"),
    ]
    named = grades.Disagreement(seat="first", rate="win_rate")
    found.append(("Disagreement", plain.to_dict(named)))
    assert [list(faults_of_object(value, name)) for name, value in found] == [
        [] for _ in found
    ]
    assert "exact" not in found[0][1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"more": 1}, ".more: not on the page"),
        ({"seed": "1"}, ".seed: '1' is no integer"),
        ({"update": True}, ".update: True is no integer"),
        ({"games": -1}, ".games: -1 is not from 0, games"),
        ({"stopped": "x"}, ".stopped: 'x' is no `end`, `proven` or `interrupted`"),
        ({"exact": {}}, ".exact.unbeatable: not written"),
        ({"exact": None}, ".exact: None is no [Exact](#exact)"),
    ],
)
def test_what_the_page_does_not_say_is_seen(changes, fault, written):
    value = dict(written)["TrainResult"] | changes
    assert fault in set(faults_of_object(value, "TrainResult"))
