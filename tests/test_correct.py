"""The command `correct`. See also `console/`."""

import json
import re
from pathlib import Path
from typing import Any

import commands
import jsonschema
import pytest

from jax_ttt.config.game_facts import SEATS
from jax_ttt.players import saved_agents
from jax_ttt.solver.connect_four_solver import Solver
from tools import make_schema

correct = commands.module_of("correct")


def load(path) -> Any:
    """Return an agent; it has corrections."""
    return saved_agents.load_agent(Path(path))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_json_follows_the_schema(agent_files):
    path = "mine.safetensors"
    out, _ = commands.run(correct, agent_files["THREE"], "--out", path, "--json")
    result = json.loads(out)
    schema = make_schema.schema() | {"anyOf": [{"$ref": "#/$defs/CorrectionResult"}]}
    jsonschema.validate(result, schema)
    assert result["grade"]["player"] == agent_files["THREE"]
    assert (result["precision"], result["num_nodes"]) == ("float32", 0)
    assert result["num_corrections"] == len(load(path).corrections) > 0
    assert result["grade"]["unbeatable"]
    numbers = [level["num_corrections"] for level in result["levels"]]
    assert sum(numbers) == result["num_corrections"]
    assert {level["seat"] for level in result["levels"]} == {*SEATS}


def test_ctrl_c_prints_what_is_known(agent_files, tmp_path, monkeypatch):
    keeping_moves, calls = Solver.keeping_moves, []

    def interrupted(solver, keys, order):
        calls.append(len(keys))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return keeping_moves(solver, keys, order)

    monkeypatch.setattr(Solver, "keeping_moves", interrupted)
    out, err = commands.run(correct, agent_files["FOUR"], code=130)
    assert out == ""
    assert "nothing is proven or saved" in err
    levels = re.findall(r"^(\d+) +(\d+) +\d+$", err, re.MULTILINE)
    assert [(int(a), int(b)) for a, b in levels] == list(
        zip([0, 2, 4], calls[:3], strict=True)
    )
    assert not [*tmp_path.iterdir()]


def test_ctrl_c_in_the_proof_ends_the_command(agent_files, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("jax_ttt.text.grade_text.search_progress", lambda *_: interrupt)
    _, err = commands.run(correct, agent_files["FOUR"], code=130)
    assert "nothing is proven or saved" in err
