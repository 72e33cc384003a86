"""The command `correct`, and what `evaluate` says of changed corrections."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import brute_corrections as brute
import commands
import jsonschema
import numpy as np
import pytest
import rules

from jax_ttt import evaluate
from jax_ttt.config.game_facts import SEATS
from jax_ttt.players import saved_agents
from jax_ttt.solver.connect_four_solver import Solver
from jax_ttt.solver.corrections import Corrections
from tools import make_schema

correct = commands.module_of("correct")


def load(path) -> Any:
    """Return an agent; it has corrections."""
    return saved_agents.load_agent(Path(path))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_json_follows_the_schema(agent_files, run_command):
    path = "mine.safetensors"
    out, _ = run_command(correct, agent_files["THREE"], "--out", path, "--json")
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


def test_ctrl_c_prints_what_is_known(agent_files, tmp_path, monkeypatch, run_command):
    keeping_moves, calls = Solver.keeping_moves, []

    def interrupted(solver, keys, order):
        calls.append(len(keys))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return keeping_moves(solver, keys, order)

    monkeypatch.setattr(Solver, "keeping_moves", interrupted)
    out, err = run_command(correct, agent_files["FOUR"], code=130)
    assert out == ""
    assert "nothing is proven or saved" in err
    levels = re.findall(r"^(\d+) +(\d+) +\d+$", err, re.MULTILINE)
    assert [(int(a), int(b)) for a, b in levels] == list(
        zip([0, 2, 4], calls[:3], strict=True)
    )
    assert not [*tmp_path.iterdir()]


def test_ctrl_c_in_the_proof_ends_the_command(agent_files, monkeypatch, run_command):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("jax_ttt.text.grade_text.search_progress", lambda *_: interrupt)
    _, err = run_command(correct, agent_files["FOUR"], code=130)
    assert "nothing is proven or saved" in err


@pytest.mark.fault
def test_with_one_correction_less_or_more_nothing_is_proven(agent_files, run_command):
    """The files have the right checksums, and grades that say *proven*."""
    path = "agent.safetensors"
    run_command(correct, agent_files["THREE"], "--out", path)
    agent = load(path)
    keys, actions = agent.corrections.keys, agent.corrections.actions

    def evaluated(keys, actions, code=0):
        corrections = Corrections(keys, actions)
        changed = dataclasses.replace(agent, corrections=corrections)
        saved_agents.save_agent(changed, Path(path))
        return run_command(evaluate, path, "--json", code=code)

    whole = json.loads(evaluated(keys, actions).out)
    assert f"unbeatable with {len(keys)} corrections: " in whole["verdict"]
    seats = agent.corrections.seats("tic_tac_toe")
    for place in (0, len(keys) - 1):
        fewer = evaluated(np.delete(keys, place), np.delete(actions, place))
        result = json.loads(fewer.out)
        assert not result["grade"][seats[place]]["unbeatable"]
        assert "beatable: a shortest line" in result["verdict"]
    own, _ = brute.corrections_of(agent, "first")
    never = next(
        board
        for move in range(9)
        for reply in rules.moves(rules.after(rules.START, move))
        for board in [rules.after(rules.after(rules.START, move), reply)]
        if board not in own
    )
    more = np.sort(np.append(keys, np.uint64(rules.key(never))))
    place = np.searchsorted(keys, rules.key(never))
    move = rules.moves(never)[0]
    err = evaluated(more, np.insert(actions, place, move), code=2).err
    assert "1 correction X never needs" in err
