"""A grade as text: what is printed of each kind of grade."""

import dataclasses

import made

from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.grade import Lines, Match, SeatGrade
from jax_ttt.grading import tree_grade
from jax_ttt.solver import policies
from jax_ttt.text import grade_text


def exact_grade(unbeatable=False):
    worst = (0.0, 0.0 if unbeatable else 1.0)
    seats = (0.971, 0.024, 0.005), (0.873, 0.068, 0.059)
    return made.exact(*seats, unbeatable, worst)


MATCH = made.sampled((1.0, 0.0, 0.0), (0.25, 0.25, 0.5))
SAMPLED = made.grade(sampled=MATCH, env_id="tic_tac_toe")
PROVEN = made.reached()
LOST = made.reached(losing_ends=1200, draw_rate=0.0, loss_rate=0.25)
BEATEN = made.reached(
    draw_rate=0.125,
    loss_rate=0.125,
    merged=False,
    lines=Lines(won=1, drawn=2, lost=3),
    losing_ends=2,
    losing_line=(0, 1, 0, 1, 0, 1, 2, 1),
    losing_choices=5,
)
OPEN = made.reached(draw_rate=0.0, open_rate=0.25, complete=False, num_moves=9)
# A seat was searched, and the other one sampled: so is one whose search was cut.
SEARCHES: list[dict[Seat, SeatGrade]] = [
    {"first": PROVEN},
    {"first": PROVEN, "second": OPEN},
]
PARTLY = [made.grade(searches, MATCH, seats=("first",)) for searches in SEARCHES]


def test_an_evaluation_in_one_line(snapshot):
    proven = exact_grade(unbeatable=True)
    lines = [
        grade_text.summary_line(200, exact_grade()),
        grade_text.summary_line(200, proven),
        *(
            grade_text.summary_line(200, dataclasses.replace(proven, seats=(seat,)))
            for seat in SEATS
        ),
        grade_text.summary_line(3, SAMPLED),
        grade_text.summary_line(3, made.grade()),
        *(grade_text.summary_line(3, grade) for grade in PARTLY),
    ]
    cut = made.reached(complete=False, draw_rate=0.0, open_rate=0.25)
    for second in (PROVEN, LOST, cut):
        searches: dict[Seat, SeatGrade] = {"first": PROVEN, "second": second}
        lines.append(grade_text.summary_line(3, made.grade(searches)))
        lines.append(grade_text.summary_line(3, made.grade(searches, MATCH)))
    assert "\n".join(lines) == snapshot


def test_tables_of_results(snapshot):
    tables = [
        grade_text.rates_table(exact_grade()),
        grade_text.rates_table(SAMPLED),
        grade_text.rates_table(PARTLY[0]),
    ]
    assert "\n\n".join(tables) == snapshot


def test_the_losing_line_is_drawn_as_boards(host_tree, snapshot):
    """The policy, as O in the first empty cell, does not block X's diagonal."""
    legal = host_tree.legal_action_mask
    probs = policies.share_equally(legal & (legal.cumsum(axis=1) == 1))
    grade = tree_grade.grade_policy("tic_tac_toe", host_tree, probs, "construction")
    assert grade_text.verdict(grade) == snapshot


def test_a_sample_proves_nothing():
    verdict = grade_text.verdict(SAMPLED)
    assert verdict.startswith("nothing is proven: it lost 2 of 8 ")
    assert "7.15% to 59.07%" in verdict, "Wilson's interval"
    assert "nothing is proven" in grade_text.verdict(made.grade())


def test_exact_rates_outside_the_intervals_of_a_sample_are_named():
    sample = dataclasses.replace(
        made.rates(0.5, 0.25, 0.25),
        num_games=100,
        low=(0.4, 0.2, 0.2),
        high=(0.6, 0.3, 0.3),
    )
    match, inside = Match(first=sample, second=sample), (0.55, 0.2, 0.25)
    text = grade_text.match_table(made.exact(inside, inside), match)
    assert text.endswith("agrees with the exact values")
    text = grade_text.match_table(made.exact(inside, (0.61, 0.2, 0.19)), match)
    outside = [line for line in text.splitlines() if "is outside" in line]
    assert [line.partition(" is outside")[0] for line in outside] == [
        "as O, the exact win_rate of 61.000%",
        "as O, the exact loss_rate of 19.000%",
    ]


def test_the_tables_and_verdicts_of_searches(snapshot):
    """One losing line is final; else an open seat claims nothing."""
    seats: list[dict[Seat, SeatGrade]] = [
        {"first": PROVEN, "second": PROVEN},
        {"first": BEATEN, "second": OPEN},
        {"first": PROVEN, "second": OPEN},
    ]
    grades = [made.grade(searches) for searches in seats]
    assert "\n\n".join(map(grade_text.full_report, grades)) == snapshot
