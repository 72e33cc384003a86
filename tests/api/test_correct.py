"""Corrected agents in Python, and grades and proofs in one seat."""

from typing import Any

import pytest
import tiny

import jax_ttt
from jax_ttt.config.game_facts import SEATS, seat_name
from jax_ttt.config.settings import Config


def untrained(env_id):
    return tiny.untrained(Config.of(env_id=env_id, hidden_size=8))


def test_the_corrected_agent_is_proven_in_its_seat_and_shows_its_corrections():
    plain = untrained("tic_tac_toe")
    result = jax_ttt.correct(plain, seat="second", precision="int8")
    number = result.num_corrections
    assert result.agent.corrections is not None
    assert number == len(result.agent.corrections) > 0
    assert (result.goal, result.grade.seats) == ("not-lose", ("second",))
    assert result.grade.unbeatable
    assert f"proven: it is unbeatable as O with {number} corrections" in repr(result)
    assert result._repr_html_() == f"<pre>{result!r}</pre>"
    text = f"seed 0, 0 updates, int8, {number} corrections>"
    assert repr(result.agent).endswith(text)
    assert f"<td>corrections</td><td>{number}</td>" in result.agent._repr_html_()
    assert repr(plain).endswith("seed 0, 0 updates>")
    assert "corrections" not in plain._repr_html_()


def test_a_perfect_player_is_proven_in_each_seat():
    for seat in SEATS:
        verdict = jax_ttt.prove("minimax", seat=seat).verdict
        assert verdict.endswith(f"as {seat_name(seat)} (5,478 positions)")


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": "third"}, "^seat must be one of both, first, second"),
        ({"goal": "draw"}, "^goal must be one of not-lose, win"),
        ({"precision": "int4"}, "^precision must be one of auto, float32, int8"),
    ],
)
def test_what_is_not_possible_is_refused(options, message):
    agent = untrained("tic_tac_toe")
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.correct(agent, **options)
    with pytest.raises(jax_ttt.Refused, match="with best play, O wins"):
        jax_ttt.correct(untrained("connect_6x6"), seat="first")
    wrong: Any = "minimax"
    with pytest.raises(jax_ttt.Refused, match="correct needs an agent"):
        jax_ttt.correct(wrong)
    if "seat" in options:
        for function in (jax_ttt.prove, jax_ttt.grade):
            with pytest.raises(jax_ttt.Refused, match=message):
                function(agent, **options)
