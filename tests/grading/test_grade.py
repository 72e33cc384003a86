"""Grades by seat."""

import json

import made
import pytest

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.files import records
from jax_ttt.grading import grade as grades
from jax_ttt.grading.grade import RATES, Grades, Reached

EXACT = made.exact((0.5, 0.25), (0.25, 0.5), unbeatable=True, worst=(0, 1))
SAMPLED = made.sampled((1.0, 0.0), (0.25, 0.25))


def test_exact_grades_are_preferred_and_a_sample_proves_nothing():
    beatable = made.exact((0.5,), (0.5,))
    for row, best, proven in (
        (Grades(exact=EXACT, sampled=SAMPLED), EXACT, True),
        (Grades(exact=beatable), beatable, False),
        (Grades(sampled=SAMPLED), SAMPLED, False),
    ):
        assert row.rates == {seat: best.seat(seat) for seat in SEATS}
        assert (mean := row.mean()) is not None
        assert mean.all_rates == best.all_rates
        assert row.is_proven is proven
    assert (Grades().rates, Grades().mean(), Grades().is_proven) == ({}, None, False)


def test_each_seat_has_its_own_results():
    assert [EXACT.seat(seat) for seat in SEATS] == [EXACT.first, EXACT.second]
    assert [SAMPLED.seat(seat) for seat in SEATS] == [SAMPLED.first, SAMPLED.second]
    assert EXACT.second.worst_loss_rate == 1


def test_rates_by_name_have_the_order_of_their_fields():
    rates = made.rates(0.5, 0.375, 0.125)
    assert [rates.rate(name) for name in RATES] == [0.5, 0.375, 0.125]
    assert rates.all_rates == (0.5, 0.375, 0.125)
    ends = ((0.1, 0.2), (0.3, 0.4), (0.5, 0.6))
    row = made.sampled_rates((0.5, 0.375, 0.125), 8, ends)
    assert [row.interval(name) for name in RATES] == list(ends)


def test_the_mean_of_both_seats():
    mean = grades.mean_rates(made.rates(0.5, 0.25), made.rates(0.25, 0.75))
    assert mean == made.rates(0.375, 0.5, 0.125)


def test_grades_are_written_and_read_back():
    written = Grades(exact=EXACT, sampled=SAMPLED, reached=made.searched(second=False))
    text = records.to_json(written)
    assert json.loads(text)["exact"]["first"]["win_rate"] == 0.5
    assert records.from_json(Grades, text) == written
    assert records.from_json(Grades, "{}") == Grades()


def test_the_grades_of_a_larger_record_are_separated():
    row = made.evaluated(3, exact=EXACT, sampled=SAMPLED)
    assert row.parts == Grades(exact=EXACT, sampled=SAMPLED)


def test_grades_without_a_seat_are_an_error():
    value = json.loads(records.to_json(Grades(exact=EXACT)))
    del value["exact"]["second"]
    with pytest.raises(ValueError, match=r"`second` - at `\$\.exact`"):
        records.from_dict(Grades, value)


def test_a_search_to_the_end_gives_exact_rates():
    """Of a player with one move in each position, an opponent beats all or nothing."""
    lost = made.reached(win_rate=0.5, draw_rate=0.0, loss_rate=0.5, losing_ends=3)
    row = Grades(reached={"first": made.reached(), "second": lost}, sampled=SAMPLED)
    exact = made.exact((0.75, 0.25), (0.5, 0.0), worst=(0, 1))
    assert row.rates == {"first": exact.first, "second": exact.second}
    assert row.mean() == made.rates(0.625, 0.125)


@pytest.mark.parametrize(
    "other", [{}, {"second": made.reached(is_complete=False)}], ids=["none", "cut"]
)
def test_a_seat_that_was_not_searched_to_the_end_has_sampled_rates(
    other: dict[Seat, Reached],
):
    """The sample was won as first, and a search found 3 wins in 4 games."""
    searches: dict[Seat, Reached] = {"first": made.reached(), **other}
    row = Grades(reached=searches, sampled=SAMPLED)
    exact = made.exact((0.75, 0.25), (0.75, 0.25)).first
    assert row.rates == {"first": exact, "second": SAMPLED.second}
    assert row.mean(["first"]) == made.rates(0.75, 0.25)
    assert row.mean(["second"]) == made.rates(0.25, 0.25)
    assert row.mean() == made.rates(0.5, 0.25)
    unsampled = Grades(reached=searches)
    assert unsampled.rates == {"first": exact}
    assert unsampled.mean() is None
