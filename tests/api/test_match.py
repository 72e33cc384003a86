"""A match of two players: exact if both policies are known, else sampled."""

import jax
import pytest

import jax_ttt


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


def test_an_exact_match_has_both_seats():
    match = jax_ttt.match("minimax", "random")
    reverse = jax_ttt.match("random", "minimax")
    assert match.is_exact
    assert match.first.win_rate == reverse.second.loss_rate > 0.9
    assert match.second.loss_rate == reverse.first.win_rate == 0
    assert match.second.win_rate == reverse.first.loss_rate
    assert sum(match.first.rates) == pytest.approx(1)


@pytest.mark.slow
def test_a_sampled_match_agrees_with_the_exact_one():
    exact = jax_ttt.match("minimax", "random")
    sampled = jax_ttt.match("minimax", any_free, num_games=500)
    assert not sampled.is_exact
    for seat in ("first", "second"):
        result = sampled.seat(seat)
        assert (result.num_games, result.loss_rate) == (500, 0)
        low, high = result.interval(result.win_rate)
        assert low <= exact.seat(seat).win_rate <= high
    with pytest.raises(jax_ttt.Refused, match="num_games must be"):
        jax_ttt.match("random", "random", num_games=0)


def test_the_seats_of_a_sampled_match_are_drawn_independently():
    """With the same draws, a player against itself has the same games in both seats."""
    match = jax_ttt.match(any_free, any_free, num_games=200)
    first, second = match.first, match.second
    as_x = first.win_rate, first.draw_rate, first.loss_rate
    assert as_x != (second.loss_rate, second.draw_rate, second.win_rate)
