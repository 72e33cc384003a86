"""Corrected agents in Python, and grades and proofs in one seat."""

import sys
from typing import Any

import numpy as np
import pytest
import tiny

import jax_ttt
from jax_ttt.config.settings import Config


def untrained(env_id):
    return tiny.untrained(Config.of(env_id=env_id, hidden_size=8))


@pytest.fixture(scope="module")
def result():
    """Return a corrected agent of integers."""
    return jax_ttt.correct(untrained("connect_4x4"), seat="second")


@pytest.mark.slow
def test_the_corrected_agent_is_proven_in_its_seat(result):
    number = result.num_corrections
    assert number == len(result.agent.corrections) > 0
    levels = result.levels
    assert {level.seat for level in levels} == {"second"}
    assert sum(level.num_corrections for level in levels) == number
    assert [level.num_stones for level in levels] == [*range(1, 16, 2)]
    assert (result.goal, result.grade.seats) == ("not-lose", ("second",))
    assert result.grade.unbeatable
    assert result.grade.num_corrections == number
    assert f"proven: it is unbeatable as O with {number} corrections" in repr(result)
    assert result._repr_html_() == f"<pre>{result!r}</pre>"


@pytest.mark.slow
def test_corrections_survive_a_file(result, tmp_path):
    path = tmp_path / "agent.safetensors"
    jax_ttt.save(result.agent, path)
    back = jax_ttt.load(path)
    for column in ("keys", "actions"):
        same = [getattr(x.corrections, column) for x in (back, result.agent)]
        np.testing.assert_array_equal(*same)
        assert same[0].dtype == same[1].dtype
    assert back.grade == result.agent.grade
    proofs = [jax_ttt.prove(x, seat="second") for x in (back, result.agent)]
    assert proofs[0].grade == proofs[1].grade
    assert proofs[0].unbeatable


@pytest.mark.slow
def test_an_agent_shows_its_integers_and_corrections(result):
    number = result.num_corrections
    text = f"seed 0, 0 updates, int8, {number} corrections>"
    assert repr(result.agent).endswith(text)
    assert f"<td>corrections</td><td>{number}</td>" in result.agent._repr_html_()
    plain = untrained("connect_4x4")
    assert repr(plain).endswith("seed 0, 0 updates>")
    assert "corrections" not in plain._repr_html_()


@pytest.mark.slow
def test_a_proof_and_a_grade_are_of_the_given_seat(result):
    second = jax_ttt.prove(result.agent, seat="second")
    assert (second.unbeatable, second.seats) == (True, ("second",))
    both = jax_ttt.prove(result.agent, seat="both")
    assert (both.unbeatable, both.losing_seat) == (False, "first")
    first = jax_ttt.grade(result.agent, seat="first")
    assert (first.seats, first.unbeatable, first.sampled) == (("first",), False, None)
    assert first.first is not None
    assert first.win_rate == first.first.win_rate
    assert "graded as X only" in repr(first)


def test_a_perfect_player_is_proven_in_each_seat():
    for seat in ("first", "second"):
        assert jax_ttt.prove("minimax", seat=seat).verdict.endswith(
            f"as {'X' if seat == 'first' else 'O'} (5,478 positions)"
        )


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": "third"}, "^seat must be one of both, first, second"),
        ({"goal": "draw"}, "^goal must be one of not-lose, win"),
        ({"precision": "int4"}, "^precision must be one of auto, float32, int8"),
        ({"goal": "win"}, "X can't win every game in tic_tac_toe"),
    ],
)
def test_what_is_not_possible_is_refused(options, message):
    agent = untrained("tic_tac_toe")
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.correct(agent, **options)
    wrong: Any = "minimax"
    with pytest.raises(jax_ttt.Refused, match="correct needs an agent"):
        jax_ttt.correct(wrong)
    if "seat" in options:
        for function in (jax_ttt.prove, jax_ttt.grade):
            with pytest.raises(jax_ttt.Refused, match=message):
                function(agent, **options)


def test_without_numba_the_extra_is_named(monkeypatch):
    for name in ("numba", "jax_ttt.solver.connect_four_solver"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(jax_ttt.Refused, match=r"jax_ttt\[solver\]"):
        jax_ttt.correct(untrained("connect_4x4"))
