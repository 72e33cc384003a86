"""What an agent of a run reaches: rounds, the proof at the end, their limits."""

import dataclasses

import jax
import made
import numpy as np
import pytest
import tiny

from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.settings import Config
from jax_ttt.games import packing
from jax_ttt.grading import counterexamples, search
from jax_ttt.grading.grade import SeatGrade
from jax_ttt.players import registry

ENV = "connect_4x4"
CONFIG = Config.of(
    env_id=ENV, hidden_size=8, canonical=False, start_share=0.5, eval_games=0
)


def grade_by_seat(*arguments):
    """Return the grades of a search by seat."""
    results = search.search_by_seat(*arguments)
    return {seat: searched.grade for seat, searched in results.items()}


def never():
    return False


def generator():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def agent():
    """Return an untrained agent."""
    return tiny.untrained(CONFIG)


@pytest.fixture(scope="module")
def params(agent):
    return agent.params


@pytest.fixture(scope="module")
def graded(agent):
    """Return the grades that `evaluate` gives it."""
    entrant = registry.agent_player("agent", agent)
    return grade_by_seat(entrant, 10**9)


@pytest.fixture(scope="module")
def found(params):
    """Return the results of a round, and its counterexamples."""
    return counterexamples.find_counterexamples(
        CONFIG, params, generator(), None, never
    )


@pytest.mark.slow
def test_a_round_finds_what_evaluate_finds(found, graded):
    assert found[0] == graded
    assert list(graded) == list(SEATS)
    assert all(seat.losing_ends for seat in graded.values())


def test_counterexamples_are_those_of_both_seats(found, graded):
    keys = found[1]
    assert len(keys) == sum(seat.losing_choices for seat in graded.values())
    assert len(np.unique(keys)) == len(keys)
    states = jax.jit(lambda words: packing.to_states(ENV, packing.unpack(ENV, words)))(
        packing.numbers_to_keys(keys)
    )
    # Who is to move says whose choice it is.
    assert set(np.asarray(states._step_count) % 2) == {0, 1}
    assert (np.asarray(states.legal_action_mask).sum(axis=1) > 1).all()


def test_a_search_that_is_stopped_finds_nothing(params):
    calls = []

    def later():
        calls.append(1)
        return len(calls) > 3

    grades, keys = counterexamples.find_counterexamples(
        CONFIG, params, generator(), None, later
    )
    assert grades == {}
    assert len(keys) == 0


@pytest.mark.slow
def test_past_the_limit_counterexamples_come_from_a_sample(params, found, monkeypatch):
    all_grades, all_keys = found
    config = CONFIG.replace(max_positions=200)
    grades, keys = counterexamples.find_counterexamples(
        config, params, generator(), None, never
    )
    assert all(grades[x].losing_ends < all_grades[x].losing_ends for x in SEATS)
    assert set(keys) == set(all_keys)  # no level has more than 16,384 positions
    monkeypatch.setattr(search, "_SAMPLE_SIZE", 40)
    few = counterexamples.find_counterexamples(
        config, params, generator(), None, never
    )[1]
    assert 0 < len(few) < len(keys)
    assert set(few) < set(keys)
    again = counterexamples.find_counterexamples(
        config, params, generator(), None, never
    )[1]
    np.testing.assert_array_equal(few, again)


def test_a_proof_without_a_limit_is_the_whole_search(params, graded):
    assert counterexamples.prove_within(CONFIG, params, None, never) == graded


def test_a_time_limit_leaves_each_seat_open(params):
    found = counterexamples.prove_within(CONFIG, params, 0.0, never)
    assert list(found) == list(SEATS)
    assert not any(x.complete or x.unbeatable for x in found.values())
    assert made.grade(found).unbeatable is None


def test_a_signal_ends_a_proof_in_its_seat(params):
    found = counterexamples.prove_within(CONFIG, params, None, lambda: True)
    assert list(found) == ["first"]
    assert made.grade(found).unbeatable is None


def test_a_signal_in_the_second_seat_leaves_it_open(params, graded):
    """Even if nothing beats the agent in the first seat, nothing is proven."""
    calls = 0

    def show(found, level, done):
        nonlocal calls
        calls += found.player.seat == "second"

    found = counterexamples.prove_within(CONFIG, params, None, lambda: calls > 0, show)
    assert list(found) == list(SEATS)
    assert found["first"] == graded["first"]
    assert not found["second"].complete
    won = dataclasses.replace(found["first"], losing_ends=0, beaten=False)
    assert won.unbeatable
    found["first"] = won
    assert made.grade(found).unbeatable is None


def test_of_two_searches_the_one_that_went_further_counts(graded):
    first, second = graded.values()
    cut = dataclasses.replace(first, complete=False, num_moves=5)
    shorter = dataclasses.replace(cut, num_moves=4)
    further = counterexamples.merge_searches
    before: dict[Seat, SeatGrade] = {"first": cut, "second": second}
    assert further(before, {"first": shorter}) == before
    assert further(before, {"first": first}) == graded
    assert further(graded, {"first": cut}) == graded
    assert further({}, {"second": second}) == {"second": second}


@pytest.mark.parametrize(
    ("env_id", "share", "seconds", "is_open"),
    [
        ("connect_4x4", 0.0, 30.0, True),
        ("connect_4x4", 0.5, 30.0, False),
        ("connect_4x4", 0.5, None, True),
        ("tic_tac_toe", 0.0, None, False),
        ("hex", 0.0, None, False),
    ],
)
def test_a_search_follows_where_it_tells_more(env_id, share, seconds, is_open, graded):
    config = Config.of(env_id=env_id, start_share=share)
    ungraded, complete = made.grade(), made.grade(graded)
    assert counterexamples.may_find_more(config, ungraded, seconds) == is_open
    assert not counterexamples.may_find_more(config, complete, seconds)
    cut = dataclasses.replace(graded["first"], complete=False)
    for partly in (
        made.grade({"first": cut, "second": graded["second"]}),
        made.grade({"first": graded["first"]}),
    ):
        assert counterexamples.may_find_more(config, partly, seconds) == is_open


def test_a_search_is_of_the_learned_seats(graded):
    config = Config.of(env_id=ENV, opponent="random", seat="first")
    found = made.grade({"first": graded["first"]}, seats=("first",))
    assert not counterexamples.may_find_more(config, found, None)
