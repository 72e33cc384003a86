"""Training games between two evaluations."""

import made
import pytest

from jax_ttt.files.rows import TrainingCounts
from jax_ttt.text.console import LatestGames


def counts(games, wins, losses):
    known = made.COUNTS | {"update": 1, "games": games, "wins": wins, "losses": losses}
    return TrainingCounts(**known)


def test_shares_are_those_of_the_games_since_the_last_evaluation():
    latest = LatestGames()
    assert latest.shares(counts(0, 0, 0)) is None
    assert latest.shares(counts(10, 5, 4)) == (0.5, 0.4)
    assert latest.shares(counts(10, 5, 4)) is None
    assert latest.shares(counts(30, 10, 20)) == pytest.approx((0.25, 0.8))
    assert latest.best == 0.5
