"""Grades of any player: what is exact, what is sampled, and when."""

import dataclasses

import jax
import pytest

from jax_ttt.config.errors import GameError
from jax_ttt.grading import grader
from jax_ttt.players import random_players
from jax_ttt.players.player import Player

UNKNOWN = Player(env_id="tic_tac_toe", name="x", choose=random_players.random_player)


@pytest.mark.parametrize(
    ("has_policy", "num_games", "num_sampled"),
    [(True, None, 0), (True, 64, 64), (False, None, 1024)],
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
    assert (0 if grade.sampled is None else grade.sampled.num_games) == num_sampled


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_four"])
def test_a_grade_of_nothing_is_refused(env_id):
    player = dataclasses.replace(UNKNOWN, env_id=env_id)
    grade = grader.follow_lines(player)
    assert grade.followed == {}
    with pytest.raises(GameError, match=f"x in {env_id}: nothing is exact"):
        grader.with_match(grade, player, jax.random.key(0), 0)
