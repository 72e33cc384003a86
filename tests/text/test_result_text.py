"""Results as text: what is printed of each kind of grades."""

import dataclasses

import made
import pytest
from jax_ttt.grading.exam import Exam, Mark

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.grading import exact as grades
from jax_ttt.grading.grade import Disagreement, Grades, Rate, Reached, Sampled
from jax_ttt.solver import policies
from jax_ttt.text import exam_text, result_text


def exact_grades(unbeatable=False):
    worst = (0.0, 0.0 if unbeatable else 1.0)
    seats = (0.971, 0.024, 0.005), (0.873, 0.068, 0.059)
    return Grades(exact=made.exact(*seats, unbeatable, worst))


SAMPLED = Grades(sampled=made.sampled((1.0, 0.0, 0.0), (0.25, 0.25, 0.5)))
PROVEN: dict[Seat, Reached] = {"first": made.reached(), "second": made.reached()}
LOST = made.reached(losing_ends=1200, draw_rate=0.0, loss_rate=0.25)
CUT = made.reached(is_complete=False)


def test_lines_of_a_progress(snapshot):
    lines = [
        result_text.step_line("tic_tac_toe", 200, exact_grades()),
        result_text.step_line("tic_tac_toe", 200, exact_grades(unbeatable=True)),
        *(
            result_text.step_line("tic_tac_toe", 200, exact_grades(True), (seat,))
            for seat in SEATS
        ),
        result_text.step_line("tic_tac_toe", 3, SAMPLED),
        result_text.step_line("tic_tac_toe", 3, Grades()),
    ]
    searches: list[dict[Seat, Reached]] = [
        PROVEN,
        {"first": made.reached(), "second": LOST},
        {"first": made.reached(), "second": CUT},
    ]
    for seats in searches:
        grades_of = Grades(reached=seats)
        lines.append(result_text.step_line("connect_4x4", 3, grades_of))
        both = Grades(reached=seats, sampled=SAMPLED.sampled)
        lines.append(result_text.step_line("connect_4x4", 3, both))
    assert "\n".join(lines) == snapshot


def test_tables_of_results(snapshot):
    def mark(share, number):
        """Return a mark."""
        interval = (share - 0.1, share + 0.1)
        return Mark(num_positions=number, share=share, interval=interval)

    exam = Exam(
        all=mark(0.5, 1012),
        by_kind={"random": mark(0.625, 506), "tactical": mark(0.375, 506)},
        by_ply={str(n): mark(n / 100, 44) for n in range(8, 13)},
    )
    tables = [
        result_text.evaluation_table("tic_tac_toe", exact_grades()),
        result_text.evaluation_table("tic_tac_toe", SAMPLED),
        exam_text.exam_table(exam),
    ]
    assert "\n\n".join(tables) == snapshot


def test_a_seat_that_was_searched_has_exact_rates_beside_a_sampled_one():
    """Of 4 sampled games as second, 1 was won; the search found 3 wins in 4 as first.

    The same holds where the search of the second seat was cut.
    """
    one: dict[Seat, Reached] = {"first": made.reached()}
    cut: dict[Seat, Reached] = {**one, "second": CUT}
    for searches in (one, cut):
        both = Grades(reached=searches, sampled=SAMPLED.sampled)
        line = result_text.step_line("connect_4x4", 3, both, ("first",))
        assert "Wins: 50.00%" in line
        assert "as first 75.0/25.0/0.0  as second 25.0/25.0/50.0" in line
        assert "4 games sampled as second" in line
        table = result_text.evaluation_table("connect_4x4", both).splitlines()
        _, first, second, mean = map(str.split, table)
        assert first[2:] == ["75.000%", "25.000%", "0.000%", "exact"]
        assert second[2:] == ["25.000%", "25.000%", "50.000%", "4"]
        assert mean == ["mean", "50.000%", "25.000%", "25.000%"]


def test_the_losing_line_is_drawn_as_boards(host_tree, snapshot):
    """The policy, as O in the first empty cell, does not block X's diagonal."""
    legal = host_tree.legal_action_mask
    probs = policies.shared(legal & (legal.cumsum(axis=1) == 1))
    text = result_text.verdict("tic_tac_toe", Grades(), host_tree, probs, SEATS)
    assert text == snapshot


def test_a_sample_proves_nothing():
    verdict = result_text.verdict("connect_four", SAMPLED, None, None, SEATS)
    assert verdict.startswith("nothing is proven: it lost 2 of 8 ")
    assert "7.15% to 59.07%" in verdict, "Wilson's interval"
    assert "nothing is proven" in result_text.sampled_verdict(Grades())


@pytest.mark.parametrize(
    ("second", "wrong"),
    [
        ((0.55, 0.2, 0.25), ()),
        ((0.61, 0.2, 0.19), ("win_rate", "loss_rate")),
    ],
)
def test_a_sample_that_disagrees_says_so(second, wrong: tuple[Rate, ...]):
    sure = (0.5, 0.25, 0.25), 100, ((0.4, 0.6), (0.2, 0.3), (0.2, 0.3))
    row = made.sampled_rates(*sure)
    sampled = Sampled(**vars(row), first=row, second=row)
    exact = made.exact((0.55, 0.2, 0.25), second)
    found = grades.disagreements(exact, sampled)
    assert found == tuple(Disagreement(seat="second", rate=rate) for rate in wrong)
    compared = dataclasses.replace(sampled, disagreements=found)
    text = result_text.sampled_match_text("tic_tac_toe", compared, exact)
    assert text.endswith("agrees with the exact values") == (not wrong)
    for rate in wrong:
        assert f"the exact {rate} of {exact.second.rate(rate):.3%} is outside" in text
