"""A match of two players: exact if both policies are known, else sampled."""

import jax
import pytest

import jax_ttt
from jax_ttt.grading.grade import SeatGrade, sampled_seat


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


def test_an_exact_match_is_that_of_both_seats():
    found = jax_ttt.match("minimax", "random")
    back = jax_ttt.match("random", "minimax")
    assert found.is_exact
    assert found.first.win_rate == back.second.loss_rate > 0.9
    assert found.second.loss_rate == back.first.win_rate == 0
    assert found.second.win_rate == back.first.loss_rate
    assert sum(rate.value for rate in found.first.rates) == pytest.approx(1)
    assert found.seat("second") is found.second


def test_a_sampled_match_agrees_with_the_exact_one():
    exact = jax_ttt.match("minimax", "random")
    found = jax_ttt.match("minimax", any_free, num_games=500)
    assert not found.is_exact
    for seat in ("first", "second"):
        result = found.seat(seat)
        assert result.num_games == 500
        assert result.loss_rate == 0
        low, high = result.interval(result.win_rate)
        assert low <= exact.seat(seat).win_rate <= high


def test_the_interval_of_an_exact_rate_is_the_rate():
    exact = SeatGrade(win_rate=0.5, draw_rate=0.25, loss_rate=0.25)
    assert exact.interval(0.25) == (0.25, 0.25)
    low, high = sampled_seat([50, 25, 25]).interval(0.25)
    assert 0.1 < low < 0.25 < high < 0.4


def test_no_games_are_refused():
    with pytest.raises(jax_ttt.Refused, match="num_games must be"):
        jax_ttt.match("random", "random", num_games=0)
