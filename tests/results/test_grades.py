"""Grades by seat, and grades written by earlier versions."""

import json

import made
import pytest

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.results import grades, plain
from jax_ttt.results.grades import RATES, Grades, Reached, read_grades

EXACT = made.exact((0.5, 0.25), (0.25, 0.5), unbeatable=True, worst=(0, 1))
SAMPLED = made.sampled((1.0, 0.0), (0.25, 0.25))


def test_exact_grades_are_preferred_and_a_sample_proves_nothing():
    beatable = made.exact((0.5,), (0.5,))
    for row, best, proven in (
        (Grades(exact=EXACT, sampled=SAMPLED), EXACT, True),
        (Grades(exact=beatable), beatable, False),
        (Grades(sampled=SAMPLED), SAMPLED, False),
        (Grades(), None, False),
    ):
        assert row.best_known is best
        assert row.is_proven is proven


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


def respelled(value):
    """Return an object with the seat names of earlier versions."""
    if not isinstance(value, dict):
        return value
    old = {"first": "as_first", "second": "as_second"}
    return {old.get(name, name): respelled(part) for name, part in value.items()}


def test_grades_are_read_with_current_and_earlier_seat_names():
    written = Grades(exact=EXACT, sampled=SAMPLED)
    value = json.loads(json.dumps(plain.to_dict(written)))
    assert value["exact"]["first"]["win_rate"] == 0.5
    assert "as_first" not in json.dumps(value)
    assert "as_first" in respelled(value)["exact"]
    assert "as_second" in respelled(value)["sampled"]
    assert read_grades(value) == read_grades(respelled(value)) == written
    assert read_grades({}) == Grades()


def test_the_grades_of_a_larger_record_are_separated():
    row = made.evaluated(3, exact=EXACT, sampled=SAMPLED)
    assert row.parts == Grades(exact=EXACT, sampled=SAMPLED)


def test_grades_without_a_seat_are_an_error():
    value = json.loads(json.dumps(plain.to_dict(Grades(exact=EXACT))))
    del value["exact"]["second"]
    with pytest.raises(ValueError, match=r"score\.exact\.second is missing"):
        read_grades(value, "score")


def test_a_search_to_the_end_in_both_seats_gives_the_exact_rates():
    """Of a player with one move in each position, an opponent beats all or nothing."""
    lost = made.reached(win_rate=0.5, draw_rate=0.0, loss_rate=0.5, losing_ends=3)
    searches: dict[Seat, Reached] = {"first": made.reached(), "second": lost}
    row = Grades(reached=searches, sampled=SAMPLED)
    first, second = (0.75, 0.25), (0.5, 0.0)
    assert row.best_known == made.exact(first, second, worst=(0, 1))
    proven = Grades(reached=made.searched()).best_known
    assert proven == made.exact(first, first, unbeatable=True)


@pytest.mark.parametrize(
    "searches",
    [
        {"first": made.reached()},
        {"first": made.reached(), "second": made.reached(is_complete=False)},
    ],
)
def test_a_search_of_one_seat_or_one_that_was_cut_gives_no_exact_rates(
    searches: dict[Seat, Reached],
):
    assert Grades(reached=searches, sampled=SAMPLED).best_known is SAMPLED
    assert Grades(reached=searches).best_known is None
