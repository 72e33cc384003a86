"""The schema of the JSON: the file in the docs, and that real records follow it."""

import functools
import json
import re
from pathlib import Path

import commands
import jsonschema
import made
import pytest
import safetensors

import jax_ttt
from jax_ttt.files import json_records
from tools import make_schema

SHIPPED = Path(jax_ttt.__file__).parent / "shipped"


def test_the_file_in_the_docs_is_up_to_date():
    text = make_schema.PATH.read_text("utf-8")
    assert text == make_schema.page(), "docs/schema.json is old: run make schema"


def test_the_descriptions_are_of_files_not_of_python():
    for name, definition in make_schema.definitions().items():
        parts = [definition, *definition["properties"].values()]
        text = " ".join(part.get("description", "") for part in parts)
        assert not re.search(r"`[\w.]+\(|`(jax_ttt|[A-Z]\w+)\.\w+`", text), name


@functools.cache
def closed_definitions():
    """Return the definitions of the schema, without further fields."""
    return {
        name: {**definition, "additionalProperties": False}
        for name, definition in make_schema.definitions().items()
    }


def check(record, value):
    """Raise an error if a value is not such a record, or has further fields."""
    schema = {"$ref": f"#/$defs/{record}", "$defs": closed_definitions()}
    jsonschema.validate(value, schema)


def test_grades_and_the_shipped_certificates_follow_the_schema():
    lost = made.searched(False, False, losing_line=(0, 1), losing_choices=3)
    sampled = made.sampled((0.5, 0.25), (0.25, 0.5))
    for grade in (made.grade(lost), made.grade(sampled=sampled)):
        check("Grade", json_records.to_dict(grade))
    paths = list(SHIPPED.glob("*.certificate.json"))
    assert len(paths) == 2
    for path in paths:
        check("Certificate", json.loads(path.read_text()))


def metadata(path):
    """Return the description in a file of tensors."""
    with safetensors.safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["jax_ttt"])


def json_lines(path):
    """Return the objects in the lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_files_and_outputs_follow_the_schema(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def printed(command, words):
        module = commands.module_of(command)
        return json.loads(commands.run(module, *words.split(), "--json").out)

    settings = "--preset table --num-envs 8 --num-updates 2"
    run = tmp_path / "runs" / "one"
    check("TrainResult", printed("train", f"{settings} --run-dir {run}"))
    check("Plan", json.loads((run / "config.json").read_text()))
    rows = json_lines(run / "metrics.jsonl")
    for row in rows:
        check({"chunk": "Trained", "evaluation": "Evaluated"}[row["event"]], row)
    assert {row["event"] for row in rows} == {"chunk", "evaluation"}
    check("AgentDescription", metadata(run / "agent.safetensors"))
    (checkpoint, *_) = run.glob("checkpoint-*.safetensors")
    check("Checkpoint", metadata(checkpoint))

    result = printed("evaluate", f"{run} --policy-json policy.json")
    check("Grade", result["grade"])
    check("Config", result["config"])
    for decision in json.loads((tmp_path / "policy.json").read_text())[:10]:
        check("Decision", decision)

    sweep = printed("sweep", f"{settings} --num-seeds 2")
    for group in sweep["groups"]:
        check("GroupResult", group)
    head, *others = json_lines(tmp_path / sweep["file"])
    check("Sweep", head)
    for line in others:
        check("SweepLine", line)
    assert len(others) == 2

    check("CrossTable", printed("arena", f"random {run}"))
    (summary,) = printed("runs", "")["runs"]
    check("RunSummary", summary)
