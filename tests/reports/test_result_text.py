"""Results as text, word for word."""

import pytest

from jax_ttt.config.catalogue import SEATS
from jax_ttt.config.choices import LEARNED
from jax_ttt.envs import tree
from jax_ttt.evaluation import grades
from jax_ttt.reports import result_text
from jax_ttt.solver import policies


def rates(wins, ties, losses, **more):
    return {"win_rate": wins, "draw_rate": ties, "loss_rate": losses} | more


@pytest.fixture(scope="module")
def tic_tac_toe():
    return tree.on_host("tic_tac_toe")


def exact_summary(unbeatable=False):
    lost = 0.0 if unbeatable else 1.0
    return {
        "exact": rates(0.9219, 0.0459, 0.0322, unbeatable=unbeatable)
        | {
            "as_first": rates(0.971, 0.024, 0.005, worst_loss_rate=0.0),
            "as_second": rates(0.873, 0.068, 0.059, worst_loss_rate=lost),
        }
    }


SAMPLED = {
    "sampled": rates(0.625, 0.125, 0.25, num_games=8)
    | {
        "as_first": rates(1.0, 0.0, 0.0, num_games=4),
        "as_second": rates(0.25, 0.25, 0.5, num_games=4),
    }
}


def test_step_line():
    assert result_text.step_line("tic_tac_toe", 200, exact_summary()) == (
        "Step 200: Wins: 92.19%  Ties: 4.59%  Losses: 3.22%"
        "  | as X 97.1/2.4/0.5  as O 87.3/6.8/5.9  | beatable"
    )
    line = result_text.step_line("tic_tac_toe", 200, exact_summary(unbeatable=True))
    assert line.endswith("  | unbeatable")


def test_step_line_of_an_agent_of_one_seat_names_it():
    for seat, name in zip(SEATS, "XO", strict=True):
        row = exact_summary(unbeatable=True)
        line = result_text.step_line("tic_tac_toe", 200, row, (seat,))
        assert line.endswith(f"  | unbeatable as {name}")


def test_step_line_of_a_sample_says_so():
    line = result_text.step_line("tic_tac_toe", 3, SAMPLED)
    assert line == (
        "Step 3: Wins: 62.50%  Ties: 12.50%  Losses: 25.00%"
        "  | as X 100.0/0.0/0.0  as O 25.0/25.0/50.0  | 8 games sampled"
    )
    assert result_text.step_line("tic_tac_toe", 3, {}) == "Step 3: not evaluated"


def test_table():
    assert result_text.table("tic_tac_toe", exact_summary()).splitlines() == [
        "v random, exact        wins     ties   losses  worst case",
        "as X                97.100%   2.400%   0.500%  never loses",
        "as O                87.300%   6.800%   5.900%   loses 100%",
        "mean                92.190%   4.590%   3.220%",
    ]
    assert result_text.table("tic_tac_toe", SAMPLED).splitlines() == [
        "v random, sampled      wins     ties   losses     games",
        "as X               100.000%   0.000%   0.000%         4",
        "as O                25.000%  25.000%  50.000%         4",
        "all                 62.500%  12.500%  25.000%         8",
    ]
    assert result_text.table("tic_tac_toe", {}) == "not evaluated"


def first_legal(tree):
    """Return the policy that plays in the first empty cell."""
    legal = tree.legal_action_mask
    return policies.shared(legal & (legal.cumsum(axis=1) == 1))


def test_the_losing_line_is_drawn_as_boards(tic_tac_toe):
    """O, in the first empty cell each time, lets X have the diagonal."""
    probs = first_legal(tic_tac_toe)
    text = result_text.verdict("tic_tac_toe", {}, tic_tac_toe, probs, SEATS)
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
        "nothing is proven: 2 of 8 sampled games against random lost, "
        "a loss rate of 7.15% to 59.07% (95 % interval)"
    )
    assert result_text.sampled_verdict({}) == "not evaluated: nothing is proven"


def sampled_row(num_games, *rates):
    row = {"num_games": num_games}
    for name, (rate, low, high) in zip(grades.RATES, rates, strict=True):
        row |= {name: rate, f"{name}_interval": [low, high]}
    return row


def test_a_sample_that_disagrees_says_so():
    sure = [(0.5, 0.4, 0.6), (0.25, 0.2, 0.3), (0.25, 0.2, 0.3)]
    rows = {seat: sampled_row(100, *sure) for seat in LEARNED["both"]}
    true = {"win_rate": 0.55, "draw_rate": 0.2, "loss_rate": 0.25}
    summary = {
        "sampled": rows | sampled_row(200, *sure),
        "exact": {"as_first": true, "as_second": true},
    }
    assert result_text.sample("tic_tac_toe", summary).endswith(
        "agrees with the exact values"
    )
    summary["exact"]["as_second"] = {"win_rate": 0.61, "draw_rate": 0.2} | {
        "loss_rate": 0.19
    }
    assert grades.disagreements(summary["exact"], summary["sampled"]) == [
        ("as_second", "win_rate"),
        ("as_second", "loss_rate"),
    ]
    text = result_text.sample("tic_tac_toe", summary)
    assert "disagrees with the exact value as O: win_rate 61.000%" in text
    assert "disagrees with the exact value as O: loss_rate 19.000%" in text
    assert "agrees with the exact values" not in text
