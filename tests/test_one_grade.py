"""Every way to ask how strong an agent is gives the same answer.

The commands, the functions and the agent's file, which the page reads, are asked about
a proven agent, about one that can be beaten, and about the shipped one of 5 x 4 cells.
"""

import json
from typing import Any, NamedTuple

import commands
import pytest

import jax_ttt
from jax_ttt import evaluate, runs, sweep
from jax_ttt.config.game_facts import SEATS
from jax_ttt.files import records
from jax_ttt.grading.grade import Grade
from jax_ttt.players import saved_agents
from jax_ttt.players.shipped import CONNECT_FOUR
from jax_ttt.text import grade_text

train = commands.module_of("train")

SEED = "5"
TRAINED = {
    # Proven after some rounds.
    "proven": "--preset connect-4x4 --num-updates 20000 --until-proven",
    "beatable": "--preset connect-4x4 --num-updates 40 --eval-every 20 --hidden-size 8",
}


class Answer(NamedTuple):
    """What one of the ways says of an agent; None where it does not tell that."""

    unbeatable: bool | None
    losing_ends: tuple[int | None, ...]
    wins: tuple[float, ...]
    length: int | None  # of a shortest line that beats the agent
    positions: tuple[int | None, ...]


def answer(grade: Grade):
    """Return what a grade says."""
    loss = grade.shortest_loss
    seats = [grade.seat(seat) for seat in SEATS]
    known = [seat for seat in seats if seat is not None]
    assert len(known) == len(SEATS), "both seats were searched"
    return Answer(
        unbeatable=grade.unbeatable,
        losing_ends=tuple(seat.losing_ends for seat in known),
        wins=tuple(round(seat.win_rate, 9) for seat in known),
        length=None if loss is None else len(loss[1]),
        positions=tuple(seat.num_positions for seat in known),
    )


def of_json(grade: dict[str, Any]):
    """Return what the JSON of a grade says, word for word and as a record."""
    seats = [grade[seat] for seat in SEATS]
    lines = [len(seat["losing_line"]) for seat in seats if "losing_line" in seat]
    said = Answer(
        unbeatable=grade.get("unbeatable"),
        losing_ends=tuple(seat["losing_ends"] for seat in seats),
        wins=tuple(round(seat["win_rate"], 9) for seat in seats),
        length=min(lines, default=None),
        positions=tuple(seat["num_positions"] for seat in seats),
    )
    assert said == answer(records.from_dict(Grade, grade))
    assert all(seat["lines"].keys() == {"won", "drawn", "lost"} for seat in seats)
    return said


@pytest.fixture
def asked(capsys):
    """Return a function that runs a command and returns the JSON that it prints."""

    def run(module, *words):
        capsys.readouterr()
        assert commands.run(module, [*map(str, words), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def of_agent(path, asked):
    """Return what all that take a saved agent say, by the way."""
    agent = jax_ttt.load(path)
    evaluated = asked(evaluate, path)
    proof, grade = jax_ttt.prove(agent), jax_ttt.grade(agent)
    said = {
        "file": answer(saved_agents.load_agent(path).score),
        "evaluate": of_json(evaluated["grade"]),
        "prove": answer(proof.grade),
        "grade": answer(grade),
    }
    verdicts = {evaluated["verdict"], proof.verdict, grade.verdict}
    assert verdicts == {grade_text.verdict(agent.score)}
    assert proof.unbeatable is grade.unbeatable is said["prove"].unbeatable
    lost = len(proof.losing_line) if proof.losing_line else None
    assert lost == said["prove"].length
    assert (grade.loss_rate == 0) == bool(grade.unbeatable)
    return said


def assert_one(said: dict[str, Answer]):
    """Assert that all ways say the same."""
    (_, first), *others = said.items()
    for way, other in others:
        assert other == first, way


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("kind", TRAINED)
def test_a_trained_agent_has_one_grade(kind, tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "runs" / "one"
    settings = [*TRAINED[kind].split(), "--eval-games", "0"]
    trained = asked(train, *settings, "--seed", SEED, "--run-dir", path)
    said = of_agent(path / "agent.safetensors", asked)
    said["train"] = of_json(trained["grade"])
    (summary,) = asked(runs, tmp_path / "runs")["runs"]
    said["runs"] = of_json(summary["grade"])
    assert summary["grade"] == trained["grade"]
    last = [*(path / "metrics.jsonl").read_text().splitlines()][-1]
    said["metrics"] = of_json(json.loads(last)["grade"])
    if "--until-proven" in settings:  # which a sweep has not got
        settings.remove("--until-proven")
        settings[settings.index("--num-updates") + 1] = str(trained["update"])
    swept = asked(sweep, *settings, "--num-seeds", "1", "--first-seed", SEED)
    (group,) = swept["groups"]
    (agent,) = group["agents"]
    said["sweep"] = of_json(agent["grade"])
    assert group["proven"] == (1 if kind == "proven" else 0)
    assert_one(said)
    assert said["train"].unbeatable == (kind == "proven")


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_the_shipped_agent_of_5x4_has_one_grade(asked):
    said = of_agent(CONNECT_FOUR["connect-5x4"], asked)
    assert_one(said)
    assert said["prove"].unbeatable is True
    assert said["prove"].losing_ends == (0, 0)
    assert said["prove"].positions == (10_222, 15_576)
