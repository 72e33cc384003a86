"""An evaluation as plain numbers."""

import jax.numpy as jnp
import made
import pytest
from jax_ttt.grading.match_counts import Counts, Match

from jax_ttt.config.catalogue import Seat
from jax_ttt.grading import evaluation
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.grading.grade import Grades, Reached


def sampled(*counts):
    """Return the grades of a match with these wins, draws and losses in each seat."""
    seats = [Counts(*map(jnp.int32, row)) for row in counts]
    found = evaluation.summary(Evaluation(None, None, Match(*seats))).sampled
    assert found is not None
    return found


def test_the_rates_of_a_match_are_those_of_its_games():
    found = sampled((2, 1, 1), (0, 1, 3))
    assert found.first.all_rates == (0.5, 0.25, 0.25)
    assert found.second.all_rates == (0.0, 0.25, 0.75)
    assert found.all_rates == (0.25, 0.25, 0.5)
    assert found.num_games == 8


def test_one_game_in_a_seat_has_rates_too():
    found = sampled((0, 0, 1), (1, 0, 0))
    assert found.first.all_rates == (0.0, 0.0, 1.0)
    assert found.all_rates == (0.5, 0.0, 0.5)


@pytest.mark.parametrize("reached", [made.searched(second=False), {}, None])
def test_a_search_stays_as_it_is_unless_it_was_interrupted(
    reached: dict[Seat, Reached] | None,
):
    found = evaluation.summary(Evaluation(None, None, None, reached=reached))
    assert found == Grades(reached=reached or None)
