"""Intervals compared with published ones, and ratings with values by hand."""

import numpy as np
import pytest

from jax_ttt.grading import statistics


def test_ratings_by_hand():
    # Odds of 10 to 1, mixed with 1 % of a draw: 400 log10(0.905 / 0.095).
    scores = np.array([[0.5, 10 / 11], [1 / 11, 0.5]])
    odds = (0.99 * 10 / 11 + 0.005) / (0.99 / 11 + 0.005)
    half = 200 * np.log10(odds)
    np.testing.assert_allclose(statistics.ratings(scores), [half, -half], atol=1e-3)
    np.testing.assert_allclose(statistics.ratings(np.full((3, 3), 0.5)), 0, atol=1e-6)
    assert statistics.ratings(np.array([[0.5]])).tolist() == [0]


def test_ratings_explain_scores_made_from_ratings():
    true = np.array([300.0, 0.0, -100.0, -200.0])
    expected = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    made = (expected - 0.005) / 0.99  # mixing in 1 % of a draw gives `expected`
    np.testing.assert_allclose(statistics.ratings(made), true, atol=1e-3)


def test_a_player_that_always_wins_has_a_finite_rating():
    rating = statistics.ratings(np.array([[0.5, 1.0], [0.0, 0.5]]))
    assert 300 < rating[0] < 1000


def test_wilson_intervals():
    assert statistics.wilson_interval(0, 0) == (0, 1)
    low, high = statistics.wilson_interval(0, 1024)
    assert low == 0
    assert high == pytest.approx(0.003737, abs=1e-5)
    assert statistics.wilson_interval(50, 100) == pytest.approx(
        (0.4038, 0.5962), abs=1e-4
    )


def test_an_interval_holds_the_rate_and_is_inside_0_to_1():
    for num_games in range(1, 200):
        for successes in (0, 1, num_games):
            low, high = statistics.wilson_interval(successes, num_games)
            assert 0 <= low <= successes / num_games + 1e-12
            assert successes / num_games - 1e-12 <= high <= 1
