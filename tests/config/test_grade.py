"""The record of a grade: the verdict, the rates by seat, their bounds, its JSON."""

import dataclasses
import json
import math
from typing import Any

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_ttt.config import grade as grades
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.grade import Grade, Lines, Match, Rates, SeatGrade
from jax_ttt.files import json_records
from jax_ttt.flags import field_texts

WON, BEATEN = made.reached(), made.reached(losing_ends=1, loss_rate=0.25)
CUT = made.reached(complete=False, win_rate=0.5, open_rate=0.125)
LOST = dict.fromkeys(("low", "high"), (0.0, 0.0, 1.0))
TREE = made.exact((0.5, 0.25), (0.25, 0.5), unbeatable=True)
SAMPLED = made.sampled((1.0, 0.0), (0.25, 0.25))


def grade_of(first, second, **fields):
    """Return a grade of the lines followed in the two seats."""
    return Grade(env_id="connect_4x4", first=first, second=second, **fields)


@pytest.mark.parametrize(
    ("complete", "beaten", "evidence", "unbeatable"),
    [
        (True, False, "construction", True),
        (True, False, "signature", True),
        (True, False, "asked", True),
        (True, False, "none", None),  # its moves are not known
        (True, None, "construction", None),  # complete, and nothing is known
        (True, True, "construction", False),
        (False, True, "none", False),  # one line is enough
        (False, False, "construction", None),
        (None, None, "construction", None),  # no line was followed
    ],
)
def test_a_seat_is_unbeatable_if_all_its_lines_were_followed(
    complete, beaten, evidence, unbeatable
):
    loss = 0.25 if beaten else 0.0
    seat = SeatGrade(
        **vars(made.rates(0.5, 0.5 - loss, loss, evidence=evidence)),
        complete=complete,
        beaten=beaten,
    )
    assert seat.unbeatable is unbeatable
    assert (seat.proven is not None) == (unbeatable is True)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    "loss",
    [
        {"loss_rate": 1.0, "draw_rate": 0.0, "win_rate": 0.0, **LOST},
        {"loss_rate": math.nan},
        {"high": (0.75, 0.25, math.nan)},
        {"worst_loss_rate": 0.5},
        {"losing_line": (0, 1)},
        {"losing_line": ()},
        {"lines": Lines(won=1, drawn=0, lost=1)},
        {"losing_ends": 1},
    ],
    ids=str,
)
def test_a_grade_that_contradicts_itself_is_refused(loss, complete):
    """Also in a file, with one line that says where."""
    proof = dataclasses.replace(WON, complete=complete)
    with pytest.raises(ValueError, match=r"`beaten` is false|must be from 0 to 1"):
        dataclasses.replace(proof, **loss)
    written: Any = json_records.to_dict(grade_of(WON, WON))
    written["second"]["lines"]["lost"] = 1
    with pytest.raises(ValueError, match=r"`beaten` is false - at `\$.second`"):
        json_records.from_dict(Grade, written)


def test_a_grade_has_the_weakest_evidence_of_its_seats():
    """A seat that it did not learn, and games, don't count."""
    asked = dataclasses.replace(WON, evidence="asked")
    assert grade_of(WON, WON).evidence == "construction"
    assert grade_of(WON, asked).evidence == "asked"
    assert grade_of(WON, asked, seats=("first",)).evidence == "construction"
    assert grade_of(WON, None).evidence == "none"
    assert grade_of(None, None, sampled=SAMPLED).evidence == "none"
    unknown = grade_of(WON, dataclasses.replace(WON, evidence="none"))
    assert (unknown.evidence, unknown.unbeatable) == ("none", None)


@pytest.mark.parametrize(
    ("seats", "first", "second", "unbeatable"),
    [
        (SEATS, WON, WON, True),
        (SEATS, WON, BEATEN, False),
        (SEATS, WON, CUT, None),
        (SEATS, BEATEN, CUT, False),
        (SEATS, WON, None, None),  # after Ctrl-C
        (SEATS, BEATEN, None, False),
        (SEATS, None, None, None),
        (("first",), WON, BEATEN, True),
        (("second",), WON, BEATEN, False),
        (("second",), WON, None, None),
    ],
)
def test_a_player_is_unbeatable_in_the_seats_that_it_learned(
    seats, first, second, unbeatable
):
    """A sample without a loss proves nothing."""
    never_lost = made.sampled((1.0, 0.0), (0.5, 0.5))
    grade = grade_of(first, second, seats=seats, sampled=never_lost)
    assert grade.unbeatable is unbeatable


@pytest.mark.parametrize("record", [Grade, Match, Rates, SeatGrade])
def test_a_field_is_described_once_by_its_docstring(record):
    fields = {field.name for field in dataclasses.fields(record)}
    assert fields <= field_texts(record).keys()
    assert "Attributes:" not in record.__doc__


@pytest.mark.parametrize(
    "grade",
    [
        dataclasses.replace(TREE, sampled=SAMPLED),
        grade_of(WON, CUT, sampled=SAMPLED),
        grade_of(None, BEATEN, seats=("second",)),
        Grade(env_id="hex"),
    ],
)
def test_a_grade_is_written_and_read_back(grade):
    text = json_records.to_json(grade)
    again = json_records.from_json(Grade, text)
    assert again == grade
    assert json.loads(text).get("unbeatable") is again.unbeatable


def test_a_file_that_claims_a_proof_is_not_believed():
    written = json_records.to_dict(grade_of(WON, BEATEN))
    for part in (written, written["second"]):
        assert isinstance(part, dict)
        assert part["unbeatable"] is False
        part["unbeatable"] = True
    assert json_records.from_dict(Grade, written) == grade_of(WON, BEATEN)


def test_a_rate_is_from_0_to_1_whatever_computed_it():
    """A sum of rounded shares may miss this by a little; a file may say anything."""
    rounded = Rates.of((1.0000001, -1e-17, 0.0))
    assert rounded.rates == rounded.low == rounded.high == (1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="loss_rate must be from 0 to 1, got 7"):
        Rates.of((0.0, 0.0, 7))


def test_a_rate_is_within_its_bounds_which_are_equal_where_it_is_exact():
    for change, message in (
        ({"win_rate": 0.5}, r"the rate 0\.5 is not within 0\.75 to"),
        ({"open_rate": 0.1}, "but `complete` is true"),
        ({"high": (0.75, 0.25, 0.1)}, "but `complete` is true"),
    ):
        with pytest.raises(ValueError, match=message):
            dataclasses.replace(WON, **change)
    assert WON.is_exact
    assert WON.rates == WON.low == WON.high == (0.75, 0.25, 0)
    assert not CUT.is_exact
    assert CUT.interval(CUT.win_rate) == (0.5, 0.625)


def test_all_games_of_a_sampled_match_count_the_same():
    """3 of 4 games won as first and 1 of 12 as second are 4 of 16."""
    first = Rates.sampled([3, 1, 0])
    second = Rates.sampled([1, 2, 9])
    match = Match(first=first, second=second)
    assert match.both == Rates.sampled([4, 3, 9])
    assert (match.both.num_games, match.is_exact) == (16, False)
    assert [match.seat(seat) for seat in SEATS] == [first, second]
    assert second.of_opponent() == Rates.sampled([9, 2, 1])
    assert made.grade(sampled=match).mean_rates() == (4 / 16, 3 / 16, 9 / 16)


def test_a_seat_without_games_has_bounds_of_0_and_1():
    first, second = Rates.sampled([0, 1, 0]), Rates.sampled([0, 0, 0])
    assert second.rates == second.low == (0, 0, 0)
    assert second.high == (1, 1, 1)
    assert Match(first=first, second=second).both == first


def test_the_mean_of_exact_rates_and_the_seats_that_were_searched():
    match = Match(first=made.rates(0.5, 0.25), second=made.rates(0.25, 0.75))
    assert match.both == made.rates(0.375, 0.5, 0.125)
    assert (match.both.num_games, match.is_exact) == (0, True)
    grade = grade_of(WON, BEATEN, sampled=SAMPLED)
    assert grade.rates == {"first": WON, "second": BEATEN}
    assert grade.mean_rates() == (0.75, 0.25, 0.125)
    assert TREE.mean_rates() == (0.375, 0.625, 0)
    assert TREE.mean_rates(["second"]) == (0.25, 0.75, 0)
    assert Grade(env_id="hex").mean_rates() is None
    assert grade_of(WON, CUT).searched == {"first": WON, "second": CUT}
    assert grade_of(None, CUT).followed == {"second": CUT}
    assert (len(TREE.followed), TREE.searched) == (2, {})


@pytest.mark.parametrize("other", [None, CUT], ids=["none", "cut"])
def test_a_seat_that_was_not_followed_to_the_end_has_sampled_rates(other):
    """The sample was won as first, and a search found 3 wins in 4 games."""
    grade = grade_of(WON, other, sampled=SAMPLED)
    assert grade.rates == {"first": WON, "second": SAMPLED.second}
    assert grade.mean_rates(["second"]) == (0.25, 0.25, 0.5)
    assert grade.mean_rates() == (0.5, 0.25, 0.25)
    assert (grade.win_rate, grade.draw_rate, grade.loss_rate) == (0.5, 0.25, 0.25)
    assert dataclasses.replace(grade, seats=("first",)).win_rate == 0.75
    unsampled = grade_of(WON, other)
    assert unsampled.rates == {"first": WON}
    assert unsampled.mean_rates() is None
    assert math.isnan(unsampled.win_rate)
    assert dataclasses.replace(unsampled, seats=("first",)).win_rate == WON.win_rate


def test_the_shortest_loss_is_in_a_learned_seat():
    first = dataclasses.replace(BEATEN, losing_line=(1, 2, 3, 4))
    second = dataclasses.replace(BEATEN, losing_line=(5, 6, 7))
    assert grade_of(first, second).shortest_loss == ("second", (5, 6, 7))
    assert grade_of(second, first).shortest_loss == ("first", (5, 6, 7))
    learned = grade_of(first, second, seats=("first",))
    assert learned.shortest_loss == ("first", (1, 2, 3, 4))
    assert grade_of(WON, WON).shortest_loss is None


def test_wilson_intervals():
    assert grades.wilson_interval(0, 0) == (0, 1)
    assert grades.wilson_interval(0, 1024) == pytest.approx((0, 0.003737), abs=1e-5)
    half = grades.wilson_interval(50, 100)
    assert half == pytest.approx((0.4038, 0.5962), abs=1e-4)


@given(st.tuples(st.integers(0, 200), st.integers(0, 200)).filter(any))
def test_an_interval_holds_the_rate_and_is_inside_0_to_1(counts):
    successes, failures = counts
    num_games = successes + failures
    low, high = grades.wilson_interval(successes, num_games)
    assert 0 <= low <= successes / num_games + 1e-12
    assert successes / num_games - 1e-12 <= high <= 1
