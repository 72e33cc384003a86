"""Rates of a match, compared with values by hand."""

import jax.numpy as jnp
import pytest

from jax_ttt.evaluation.match_counts import Counts, Match, rates, sampled
from jax_ttt.evaluation.statistics import wilson_interval


def test_rates_are_shares_of_games_with_their_intervals():
    found = rates((6, 3, 1))
    assert found.num_games == 10
    assert (found.win_rate, found.draw_rate, found.loss_rate) == (0.6, 0.3, 0.1)
    assert found.interval("draw_rate") == pytest.approx(wilson_interval(3, 10))


def test_no_games_give_rates_of_zero():
    found = rates((0, 0, 0))
    assert (found.num_games, found.win_rate, found.draw_rate, found.loss_rate) == (
        0,
    ) * 4


def test_a_match_is_reported_by_seat_and_in_total():
    first, second = (Counts(*map(jnp.int32, row)) for row in ((3, 0, 1), (1, 1, 2)))
    found = sampled(Match(first, second))
    assert (found.first.win_rate, found.second.win_rate) == (0.75, 0.25)
    assert (found.num_games, found.win_rate, found.loss_rate) == (8, 0.5, 0.375)
