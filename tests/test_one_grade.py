"""Every way to ask how strong an agent is gives the same answer.

The commands, the functions and the agent's file, which the page reads, are asked about
an agent of tic-tac-toe that is proven, one of 4 x 4 cells that can be beaten, and the
shipped one of 5 x 4 cells.
"""

import dataclasses
import json

import commands
import pytest

import jax_ttt
from jax_ttt import evaluate, runs, sweep
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import CONNECT_FOUR
from jax_ttt.files import json_records
from jax_ttt.players import saved_agents
from jax_ttt.text import grade_text

train = commands.module_of("train")

TRAINED = {
    "proven": "--preset table",
    "beatable": "--preset connect-4x4 --num-updates 40 --eval-every 20 --hidden-size 8",
}


def answer(grade):
    """Return what all ways say about an agent; `grade` may be the JSON of one."""
    if isinstance(grade, dict):
        unbeatable = grade.get("unbeatable")
        grade = json_records.from_dict(Grade, grade)
        assert grade.unbeatable is unbeatable
    seats = [grade.followed[seat] for seat in SEATS]
    return {
        "unbeatable": grade.unbeatable,
        "wins": [round(seat.win_rate, 6) for seat in seats],
        "losing_ends": [seat.losing_ends for seat in seats],
        "positions": [seat.num_positions for seat in seats],
        "shortest": grade.shortest_loss and len(grade.shortest_loss[1]),
    }


@pytest.fixture
def run_json():
    """Return a function that runs a command and returns the JSON that it prints."""
    return lambda *words: json.loads(commands.run(*words, "--json").out)


def agent_answers(path, run_json):
    """Return the answers of all that take a saved agent, by the way."""
    agent = jax_ttt.load(path)
    evaluated = run_json(evaluate, path)
    proof, grade = jax_ttt.prove(agent), jax_ttt.grade(agent)
    verdicts = {evaluated["verdict"], proof.verdict, grade.verdict}
    computed = dataclasses.replace(agent.grade, by_file=None)
    assert verdicts == {grade_text.verdict(computed)}
    assert proof.unbeatable is grade.unbeatable
    return {
        "file": answer(saved_agents.load_agent(path).grade),
        "evaluate": answer(evaluated["grade"]),
        "prove": answer(proof.grade),
        "grade": answer(grade),
    }


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("kind", TRAINED)
def test_a_trained_agent_has_one_grade(kind, tmp_path, monkeypatch, run_json):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "runs" / "one"
    settings = [*TRAINED[kind].split(), "--eval-games", "0"]
    trained = run_json(train, *settings, "--seed", "5", "--run-dir", path)
    (summary,) = run_json(runs, tmp_path / "runs")["runs"]
    assert summary["grade"] == trained["grade"] | {"by_file": True}
    last = [*(path / "metrics.jsonl").read_text().splitlines()][-1]
    swept = run_json(sweep, *settings, "--num-seeds", "1", "--first-seed", "5")
    (group,) = swept["groups"]
    (agent,) = group["agents"]
    assert group["proven"] == (1 if kind == "proven" else 0)
    expected = answer(trained["grade"])
    assert expected["unbeatable"] == (kind == "proven")
    answers = agent_answers(path / "agent.safetensors", run_json)
    answers["metrics"] = answer(json.loads(last)["grade"])
    answers["sweep"] = answer(agent["grade"])
    assert answers == dict.fromkeys(answers, expected)


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_the_shipped_agent_of_5x4_has_one_grade(run_json):
    answers = agent_answers(CONNECT_FOUR["connect-5x4"], run_json)
    assert answers == dict.fromkeys(answers, answers["file"])
    assert answers["file"]["unbeatable"] is True
    assert answers["file"]["losing_ends"] == [0, 0]
    assert answers["file"]["positions"] == [12_284, 18_714]
