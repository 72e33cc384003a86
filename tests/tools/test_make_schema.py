"""The schema of the JSON: the file in the docs, and that real records follow it."""

import json

import commands
import jsonschema
import pytest
import safetensors

from tools import make_schema


def test_the_file_in_the_docs_is_the_schema():
    text = make_schema.PATH.read_text("utf-8")
    assert text == make_schema.page(), "docs/schema.json is old: run make schema"


def test_a_field_that_is_none_by_default_is_left_out():
    grade = make_schema.schema()["$defs"]["Grade"]
    assert "first" not in grade["required"]
    assert grade["properties"]["first"]["$ref"] == "#/$defs/SeatGrade"
    decision = make_schema.schema()["$defs"]["Decision"]
    assert {"type": "null"} in decision["properties"]["q_values"]["items"]["anyOf"]


def check(record, value):
    """Raise an error if a value is not such a record, or has further fields."""
    definitions = {
        name: {**definition, "additionalProperties": False}
        for name, definition in make_schema.schema()["$defs"].items()
    }
    jsonschema.validate(value, {"$ref": f"#/$defs/{record}", "$defs": definitions})


def test_a_field_without_a_definition_is_found():
    check("Spread", {"mean": 0.5, "min": 0.0, "max": 1.0})
    with pytest.raises(jsonschema.ValidationError):
        check("Spread", {"mean": 0.5, "min": 0.0, "max": 1.0, "median": 0.5})


def metadata(path):
    """Return the description in a file of tensors."""
    with safetensors.safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["jax_ttt"])


@pytest.mark.slow
def test_files_and_outputs_follow_the_schema(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def printed(command, words):
        capsys.readouterr()
        assert (
            commands.run(commands.module_of(command), [*words.split(), "--json"]) == 0
        )
        return json.loads(capsys.readouterr().out)

    settings = "--preset table --num-envs 64 --seed 1"
    run = tmp_path / "runs" / "one"
    check("TrainResult", printed("train", f"{settings} --run-dir {run} --until-proven"))
    check("ConfigFile", json.loads((run / "config.json").read_text()))
    check("TimesFile", json.loads((run / "times.json").read_text()))
    rows = [json.loads(line) for line in (run / "metrics.jsonl").open()]
    for row in rows:
        check({"chunk": "Chunk", "evaluation": "Evaluated"}[row["event"]], row)
    assert {row["event"] for row in rows} == {"chunk", "evaluation"}
    check("AgentMetadata", metadata(run / "agent.safetensors"))
    (checkpoint, *_) = run.glob("checkpoint-*.safetensors")
    check("CheckpointMetadata", metadata(checkpoint))

    files = "--certificate certificate.json --policy-json policy.json"
    check("EvaluateResult", printed("evaluate", f"{run} {files}"))
    check("Certificate", json.loads((tmp_path / "certificate.json").read_text()))
    for decision in json.loads((tmp_path / "policy.json").read_text()):
        check("Decision", decision)

    small = "--preset table --num-envs 8 --num-updates 2 --num-seeds 2"
    check("SweepResult", sweep := printed("sweep", small))
    head, *others = (json.loads(line) for line in (tmp_path / sweep["file"]).open())
    check("SweepHead", head)
    for line in others:
        check("SweepLine", line)
    assert len(others) == 2

    check("ArenaResult", printed("arena", f"random mcts-online:2 {run} --games 2"))
    check("RunsResult", runs := printed("runs", ""))
    assert len(runs["runs"]) == 1


@pytest.mark.slow
def test_the_grade_of_a_searched_player_follows_the_schema(capsys):
    words = [
        "shipped:connect-7x6",
        "--env-id",
        "connect_7x6",
        "--exam",
        "--games",
        "2",
    ]
    bound = ["--max-positions", "2000", "--json"]
    assert commands.run(commands.module_of("evaluate"), [*words, *bound]) == 0
    grade = json.loads(capsys.readouterr().out)["grade"]
    check("Grade", grade)
    assert {"first", "second", "sampled", "exam"} <= grade.keys()
