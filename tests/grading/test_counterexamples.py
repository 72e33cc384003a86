"""Searches of an agent in training: counterexamples, the proof, their limits."""

import collections
import dataclasses
import itertools

import jax
import made
import numpy as np
import pytest
import tiny

from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.grade import SeatGrade
from jax_ttt.config.settings import Config
from jax_ttt.games import position_keys
from jax_ttt.grading import counterexamples, search_grade
from jax_ttt.players import registry

ENV = "connect_4x4"
CONFIG = Config.of(
    env_id=ENV, hidden_size=8, canonical=False, start_share=0.5, eval_games=0
)


def find(params, config=CONFIG, stop=lambda: False):
    """Return the results of a round, and its counterexamples."""
    rng = np.random.default_rng(0)
    return counterexamples.find_counterexamples(config, params, rng, None, stop)


@pytest.fixture(scope="module")
def agent():
    """Return an untrained agent."""
    return tiny.untrained(CONFIG)


@pytest.fixture(scope="module")
def grades(agent):
    """Return the grades that `evaluate` gives it."""
    results = search_grade.search_by_seat(registry.agent_player("agent", agent), 10**9)
    return {seat: result.grade for seat, result in results.items()}


def test_a_round_finds_what_evaluate_finds_and_the_agents_choices(agent, grades):
    round_grades, keys = find(agent.params)
    assert round_grades == grades
    assert all(seat.losing_ends for seat in grades.values())
    assert len(keys) == sum(seat.losing_choices for seat in grades.values())
    assert len(np.unique(keys)) == len(keys)
    stones = position_keys.unpack(ENV, position_keys.numbers_to_keys(keys))
    num_stones = (stones.first | stones.second).sum(axis=1)
    assert set(num_stones % 2) == {0, 1}  # both seats
    assert (position_keys.legal_action_mask(ENV, stones).sum(axis=1) > 1).all()


def test_past_the_limit_counterexamples_come_from_a_sample(agent, grades, monkeypatch):
    config = CONFIG.replace(max_positions=200)
    _, all_keys = find(agent.params)
    cut_grades, keys = find(agent.params, config)
    assert all(cut_grades[x].losing_ends < grades[x].losing_ends for x in SEATS)
    assert set(keys) == set(all_keys)  # no level has more than 16,384 positions
    monkeypatch.setattr(search_grade, "_SAMPLE_SIZE", 40)
    _, few = find(agent.params, config)
    assert set(few) < set(keys)
    assert len(few)
    np.testing.assert_array_equal(few, find(agent.params, config)[1])


def test_the_weights_of_the_run_are_searched_where_they_are(agent, monkeypatch):
    searched = []

    def search(player, **options):
        searched.extend(map(id, jax.tree.leaves(player.choose)))
        return {}

    monkeypatch.setattr(search_grade, "search_by_seat", search)
    find(agent.params)
    assert {id(leaf) for leaf in jax.tree.leaves(agent.params)} <= {*searched}


def test_a_search_that_is_stopped_finds_nothing(agent):
    stops = iter([False] * 3)
    grades, keys = find(agent.params, stop=lambda: next(stops, True))
    assert grades == {}
    assert len(keys) == 0


def prove(agent, seconds=None, stop=lambda: False, **options):
    return counterexamples.prove_within(CONFIG, agent.params, seconds, stop, **options)


def test_a_proof_without_a_limit_is_the_whole_search(agent, grades):
    assert prove(agent) == grades


def test_a_limit_or_a_signal_leaves_seats_open(agent):
    after_0_seconds = prove(agent, seconds=0.0)
    assert list(after_0_seconds) == list(SEATS)
    assert not any(x.complete or x.unbeatable for x in after_0_seconds.values())
    stopped = prove(agent, stop=lambda: True)
    assert list(stopped) == ["first"]
    for open_seats in (after_0_seconds, stopped):
        assert made.grade(open_seats).unbeatable is None


def test_each_seat_has_an_equal_part_of_the_time(agent):
    """A second a batch, so of 20 seconds each seat has ten."""
    seconds = itertools.count()
    shown = collections.Counter()

    def show(reached, level, done):
        shown[reached.player.seat] += 1

    results = prove(agent, seconds=20.0, show=show, clock=lambda: float(next(seconds)))
    assert shown["first"] == 10
    assert shown["second"] == 9, "one second ended the first seat's search"
    assert not any(x.complete for x in results.values())


def test_a_signal_in_the_second_seat_leaves_it_open(agent, grades):
    """Even if nothing beats the agent in the first seat, nothing is proven."""
    is_second = False

    def show(reached, level, done):
        nonlocal is_second
        is_second = reached.player.seat == "second"

    results = prove(agent, stop=lambda: is_second, show=show)
    assert list(results) == list(SEATS)
    assert results["first"] == grades["first"]
    assert not results["second"].complete
    results["first"] = made.reached()
    assert results["first"].unbeatable
    assert made.grade(results).unbeatable is None


def test_of_two_searches_the_one_that_went_further_counts():
    first, second = made.reached(), made.reached(losing_ends=1)
    cut = made.reached(complete=False, num_moves=5)
    shorter = dataclasses.replace(cut, num_moves=4)
    merge = counterexamples.merge_searches
    before: dict[Seat, SeatGrade] = {"first": cut, "second": second}
    assert merge(before, {"first": shorter}) == before
    assert merge(before, {"first": first}) == {"first": first, "second": second}
    assert merge({"first": first}, {"first": cut}) == {"first": first}
    assert merge({}, {"second": second}) == {"second": second}


@pytest.mark.parametrize(
    ("env_id", "share", "seconds", "may_find_more"),
    [
        ("connect_4x4", 0.0, 30.0, True),
        ("connect_4x4", 0.5, 30.0, False),  # the run has searched already
        ("connect_4x4", 0.5, None, True),
        ("tic_tac_toe", 0.0, None, False),
        ("hex", 0.0, None, True),
    ],
)
def test_a_search_may_find_more_where_a_seat_is_open(
    env_id, share, seconds, may_find_more
):
    config = Config.of(env_id=env_id, start_share=share)
    complete, cut = made.reached(), made.reached(complete=False)
    cases: list[tuple[dict[Seat, SeatGrade], bool]] = [
        ({}, True),
        ({"first": complete}, True),
        ({"first": cut, "second": complete}, True),
        ({"first": complete, "second": complete}, False),
    ]
    for seats, is_open in cases:
        may_find = counterexamples.may_find_more(config, made.grade(seats), seconds)
        assert may_find == (may_find_more and is_open)
    learned = config.replace(opponent="random", seat="first", start_share=0.0)
    grade = made.grade({"first": complete}, seats=("first",))
    assert not counterexamples.may_find_more(learned, grade, seconds)
