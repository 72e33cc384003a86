"""Grades of any player: what is exact, what is sampled, and when."""

import jax
import pytest

from jax_ttt.grading import grader
from jax_ttt.players.player import Player, random_player

UNKNOWN = Player(env_id="tic_tac_toe", name="x", choose=random_player)


@pytest.mark.parametrize(
    ("has_policy", "num_games", "num_sampled"),
    [
        (True, None, 0),
        pytest.param(True, 64, 64, marks=pytest.mark.slow),
        (False, None, 512),
    ],
)
def test_a_sample_is_taken_where_nothing_is_exact(
    row_by_row, has_policy, num_games, num_sampled
):
    player = row_by_row if has_policy else UNKNOWN
    followed = grader.follow_lines(player)
    assert (followed.mean_rates() is not None) == has_policy
    assert (followed.details is not None) == has_policy
    grade = grader.with_match(followed, player, jax.random.key(0), num_games)
    assert grade.followed == followed.followed
    assert (grade.sampled is None) == (num_sampled == 0)
    if grade.sampled is not None:
        both_seats = (grade.sampled.first.num_games, grade.sampled.second.num_games)
        assert both_seats == (num_sampled, num_sampled)
