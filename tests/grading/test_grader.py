"""Grades of any player: what is exact, what is sampled, and when."""

import dataclasses

import jax
import numpy as np
import player_programs
import pytest
from player_programs import PlayerProgram

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.grading import grader
from jax_ttt.players import registry
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


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_four"])
def test_a_grade_of_nothing_is_refused(env_id):
    player = dataclasses.replace(UNKNOWN, env_id=env_id)
    grade = grader.follow_lines(player)
    assert grade.followed == {}
    with pytest.raises(Refused, match=f"x in {env_id}: nothing is exact"):
        grader.with_match(grade, player, jax.random.key(0), 0)


@pytest.mark.parametrize(
    "kind", ["program", pytest.param("player", marks=pytest.mark.slow)]
)
def test_a_match_agrees_with_exact_results_in_each_seat(kind, row_by_row, tmp_path):
    player: Player = row_by_row
    if kind == "program":
        written = PlayerProgram(tmp_path, player_programs.FIRST_FREE)
        spec = registry.read_player_name(written.name)
        options = ProgramOptions(copies=2)
        player = registry.make_player(spec, "tic_tac_toe", jax.random.key(0), options)
    grade = Grade(env_id="tic_tac_toe")
    sampled = grader.with_match(grade, player, jax.random.key(1), 256).sampled
    player.close()
    assert sampled is not None
    exact = grader.follow_lines(row_by_row)
    for seat in SEATS:
        rates, expected = sampled.seat(seat), exact.seat(seat)
        assert expected is not None
        assert rates.num_games == 256
        for rate, exact_rate in zip(rates.rates, expected.rates, strict=True):
            margin = 3.29 * np.sqrt(exact_rate * (1 - exact_rate) / 256)
            assert abs(rate - exact_rate) <= margin
