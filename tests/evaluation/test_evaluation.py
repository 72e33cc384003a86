"""The criteria that compare agents."""

import dataclasses

import jax
import jax.numpy as jnp
import made
import numpy as np

from jax_ttt.config.catalogue import Seat
from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.evaluation.match_counts import Counts, Match
from jax_ttt.results.grades import Reached


def test_a_sampled_match_ranks_an_agent_by_the_seats_that_it_learned():
    counts = [Counts(*map(jnp.int32, row)) for row in ((2, 1, 1), (0, 1, 3))]
    sampled = Evaluation(None, None, Match(*counts))
    sampled = jax.device_get(sampled)
    found = evaluation.criteria(sampled, "second")
    assert (found.proven, found.loss_rate, found.win_rate) == (False, 0.75, 0)
    found = evaluation.criteria(sampled, "both")
    assert (found.proven, found.loss_rate, found.win_rate) == (False, 0.5, 0.25)
    nothing = evaluation.criteria(Evaluation(None, None, None), "both")
    assert not nothing.proven
    assert np.isnan([nothing.loss_rate, nothing.win_rate]).all()


def test_a_seat_of_one_game_or_none_has_rates_too():
    counts = [Counts(*map(jnp.int32, row)) for row in ((0, 0, 1), (0, 0, 0))]
    sampled = Evaluation(None, None, Match(*counts))
    assert evaluation.criteria(sampled, "first").loss_rate == 1
    assert evaluation.criteria(sampled, "second").loss_rate == 0


def of_reached(first=None, second=None):
    """Return the criteria of results by seat."""
    seats: dict[Seat, Reached | None] = {"first": first, "second": second}
    grades = evaluation.reached_bytes({s: x for s, x in seats.items() if x})
    found = Evaluation(None, None, None, reached=grades)
    return evaluation.criteria(found, "both")


def test_an_agent_is_ranked_by_its_losing_ends():
    beaten = made.reached(losing_ends=3, win_rate=0.5)
    proven = dataclasses.replace(beaten, losing_ends=0, win_rate=0.75)
    found = of_reached(first=beaten, second=proven)
    assert (found.proven, found.loss_rate, found.win_rate) == (False, 3, 0.625)
    assert of_reached(first=proven, second=proven).proven


def test_a_search_that_was_cut_is_worth_least():
    whole = made.reached()
    cut = dataclasses.replace(whole, is_complete=False)
    for found in (of_reached(first=whole, second=cut), of_reached()):
        assert not found.proven
        assert np.isnan(found.loss_rate)
