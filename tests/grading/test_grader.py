"""Grades of any player: what is exact, what is sampled, and when."""

import dataclasses

import jax
import pytest

from jax_ttt.config.errors import GameError
from jax_ttt.grading import grader
from jax_ttt.players import basic
from jax_ttt.players.player import Player

UNKNOWN = Player(env_id="tic_tac_toe", name="x", choose=basic.random_player)


@pytest.mark.parametrize(
    ("with_policy", "num_games", "sampled"),
    [(True, None, 0), (True, 64, 64), (False, None, 1024), (False, 32, 32)],
)
def test_a_sample_is_taken_where_nothing_is_exact(
    row_by_row, with_policy, num_games, sampled
):
    entrant = row_by_row if with_policy else UNKNOWN
    followed = grader.follow_lines(entrant)
    assert (followed.mean_rates() is not None) == with_policy
    assert (followed.details is not None) == with_policy
    key = jax.random.key(0)
    grade = grader.with_match(followed, entrant, key, num_games)
    assert grade.followed == followed.followed
    assert (grade.sampled is None) == (not sampled)
    if grade.sampled is not None:
        assert grade.sampled.num_games == sampled


def test_a_grade_of_nothing_is_refused():
    for env_id in ("tic_tac_toe", "connect_four"):
        player = dataclasses.replace(UNKNOWN, env_id=env_id)
        grade = grader.follow_lines(player)
        assert grade.followed == {}
        with pytest.raises(GameError, match=f"x in {env_id}: nothing is exact"):
            grader.with_match(grade, UNKNOWN, jax.random.key(0), 0)
