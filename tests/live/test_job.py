"""What is shown of a run: its pace, its state, and the games that wait."""

import math

import pytest

from jax_ttt.live import job
from jax_ttt.live.job import Job
from jax_ttt.live.sliders import LEARNERS, LEARNING


def test_the_pace_shows_a_run_in_ten_or_twenty_seconds():
    for learner, seconds in zip(LEARNERS, (10, 20), strict=True):
        num_updates = LEARNING[learner].config.run.num_updates
        pace = job.updates_per_second(learner, 1.0)
        assert num_updates / pace == pytest.approx(seconds)
        assert job.updates_per_second(learner, 2.0) == 2 * pace
        assert Job(learner, 1).status({}, 1.0, False)["pace"] == pace
        assert Job(learner, 1).status({}, math.inf, False)["pace"] is None


def test_games_wait_for_the_first_step_and_the_oldest_is_dropped():
    found = Job("table", 1)
    for number in range(job.MOST_GAMES + 1):
        found.games.append([number])
    assert found.taken_games() == []
    found.phase = "running"
    assert found.taken_games() == [[n] for n in range(1, job.MOST_GAMES + 1)]
    assert found.taken_games() == []
