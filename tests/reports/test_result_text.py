"""Results as text, word for word."""

import dataclasses

import made
import pytest

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.envs import tree as trees
from jax_ttt.evaluation import grades
from jax_ttt.reports import result_text
from jax_ttt.results.grades import Disagreement, Grades, Rate, Reached, Sampled
from jax_ttt.solver import policies


@pytest.fixture(scope="module")
def tic_tac_toe():
    return trees.host_tree("tic_tac_toe")


def exact_grades(unbeatable=False):
    worst = (0.0, 0.0 if unbeatable else 1.0)
    seats = (0.971, 0.024, 0.005), (0.873, 0.068, 0.059)
    return Grades(exact=made.exact(*seats, unbeatable, worst))


SAMPLED = Grades(sampled=made.sampled((1.0, 0.0, 0.0), (0.25, 0.25, 0.5)))


def test_step_line():
    assert result_text.step_line("tic_tac_toe", 200, exact_grades()) == (
        "Step 200: Wins: 92.20%  Ties: 4.60%  Losses: 3.20%"
        "  | as X 97.1/2.4/0.5  as O 87.3/6.8/5.9  | beatable"
    )
    line = result_text.step_line("tic_tac_toe", 200, exact_grades(unbeatable=True))
    assert line.endswith("  | unbeatable")


def test_step_line_of_an_agent_of_one_seat_names_it():
    for seat, name in zip(SEATS, "XO", strict=True):
        row = exact_grades(unbeatable=True)
        line = result_text.step_line("tic_tac_toe", 200, row, (seat,))
        assert line.endswith(f"  | unbeatable as {name}")


def test_step_line_of_a_sample_says_so():
    line = result_text.step_line("tic_tac_toe", 3, SAMPLED)
    assert line == (
        "Step 3: Wins: 62.50%  Ties: 12.50%  Losses: 25.00%"
        "  | as X 100.0/0.0/0.0  as O 25.0/25.0/50.0  | 8 games sampled"
    )
    assert result_text.step_line("tic_tac_toe", 3, Grades()) == "Step 3: not evaluated"


def test_step_line_of_a_search_counts_the_losing_ends():
    lost, cut = made.reached(losing_ends=1200), made.reached(is_complete=False)
    word: dict[str, dict[Seat, Reached]] = {
        "unbeatable": {"first": made.reached(), "second": made.reached()},
        "beatable": {"first": made.reached(losing_ends=7), "second": lost},
        "not decided": {"first": made.reached(), "second": cut},
    }
    ends = {"unbeatable": (0, 0), "beatable": (7, "1,200"), "not decided": (0, 0)}
    for mark, seats in word.items():
        line = result_text.step_line("connect_4x4", 3, Grades(reached=seats))
        first, second = ends[mark]
        lost_by = f"losing ends: {first} as first, {second} as second"
        assert line.endswith(f"{lost_by}  | {mark}")
        assert ("Wins: 75.00%" in line) == (mark != "not decided")
    both = Grades(reached=word["beatable"], sampled=SAMPLED.sampled)
    line = result_text.step_line("connect_4x4", 3, both)
    assert "Wins: 75.00%" in line
    assert "sampled" not in line
    open_search = Grades(reached=word["not decided"], sampled=SAMPLED.sampled)
    line = result_text.step_line("connect_4x4", 3, open_search)
    assert "Wins: 62.50%" in line
    assert "8 games sampled  | losing ends" in line


def test_table():
    assert result_text.evaluation_table("tic_tac_toe", exact_grades()).splitlines() == [
        "vs. random, exact        wins    draws   losses  worst case",
        "as X                  97.100%   2.400%   0.500%  never loses",
        "as O                  87.300%   6.800%   5.900%   loses 100%",
        "mean                  92.200%   4.600%   3.200%",
    ]
    assert result_text.evaluation_table("tic_tac_toe", SAMPLED).splitlines() == [
        "vs. random, sampled      wins    draws   losses     games",
        "as X                 100.000%   0.000%   0.000%         4",
        "as O                  25.000%  25.000%  50.000%         4",
        "all                   62.500%  12.500%  25.000%         8",
    ]
    assert result_text.evaluation_table("tic_tac_toe", Grades()) == "not evaluated"


def first_legal(tree):
    """Return the policy that plays in the first empty cell."""
    legal = tree.legal_action_mask
    return policies.shared(legal & (legal.cumsum(axis=1) == 1))


def test_the_losing_line_is_drawn_as_boards(tic_tac_toe):
    """The policy, as O in the first empty cell, does not block X's diagonal."""
    probs = first_legal(tic_tac_toe)
    text = result_text.verdict("tic_tac_toe", Grades(), tic_tac_toe, probs, SEATS)
    head, *boards = text.splitlines()
    assert head == (
        "beatable: the shortest line that beats it, playing as O "
        "(5 moves; cells 0 to 8, row by row)"
    )
    assert boards == [
        "  1. X0   2. O1   3. X8   4. O2   5. X4",
        "  X - -   X O -   X O -   X O O   X O O",
        "  - - -   - - -   - - -   - - -   - X -",
        "  - - -   - - -   - - X   - - X   - - X",
    ]


def test_sampled_verdict_proves_nothing():
    assert result_text.verdict("connect_four", SAMPLED, None, None, SEATS) == (
        "nothing is proven: it lost 2 of 8 sampled games against random, "
        "a loss rate of 7.15% to 59.07% (95 % interval)"
    )
    assert result_text.sampled_verdict(Grades()) == "not evaluated: nothing is proven"


def test_a_sample_that_disagrees_says_so():
    sure = (0.5, 0.25, 0.25), 100, ((0.4, 0.6), (0.2, 0.3), (0.2, 0.3))
    row = made.sampled_rates(*sure)
    sampled = Sampled(**vars(row), first=row, second=row)
    true = (0.55, 0.2, 0.25)
    cases: list[tuple[tuple, tuple[Rate, ...]]] = [
        (true, ()),
        ((0.61, 0.2, 0.19), ("win_rate", "loss_rate")),
    ]
    for second, wrong in cases:
        exact = made.exact(true, second)
        found = grades.disagreements(exact, sampled)
        assert found == tuple(Disagreement(seat="second", rate=r) for r in wrong)
        compared = dataclasses.replace(sampled, disagreements=found)
        text = result_text.sampled_match_text("tic_tac_toe", compared, exact)
        assert text.endswith("agrees with the exact values") == (not wrong)
        for rate in wrong:
            value = f"{exact.second.rate(rate):.3%}"
            assert f"as O, the exact {rate} of {value} is outside the" in text
    assert "agrees" not in result_text.sampled_match_text("tic_tac_toe", sampled, None)
