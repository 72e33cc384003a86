"""Results over all positions that a player reaches, as text."""

import dataclasses

import numpy as np
import pytest
from rule_player import RULE

from jax_ttt.config.catalogue import Seat
from jax_ttt.envs import one_game
from jax_ttt.reports import reached_text
from jax_ttt.results.grades import Lines, Reached
from jax_ttt.solver.expansion import Subject
from jax_ttt.solver.reach import Reach

ENV = "connect_4x4"
PROVEN = Reached(
    win_rate=0.75,
    draw_rate=0.25,
    loss_rate=0.0,
    open_rate=0.0,
    is_complete=True,
    num_moves=16,
    num_positions=1234,
    positions=(1, 4),
    merged=True,
    lines=Lines(won=1000, drawn=20, lost=0),
    losing_ends=0,
    losing_line=None,
    losing_choices=0,
)
LINE = (0, 1, 0, 1, 0, 1, 2, 1)
BEATEN = dataclasses.replace(
    PROVEN,
    draw_rate=0.125,
    loss_rate=0.125,
    merged=False,
    lines=Lines(won=1, drawn=2, lost=3),
    losing_ends=2,
    losing_line=LINE,
    losing_choices=5,
)
OPEN = dataclasses.replace(
    PROVEN, draw_rate=0.0, open_rate=0.25, is_complete=False, num_moves=9
)


def test_the_table_has_a_row_for_each_seat():
    text = reached_text.reached_table(ENV, {"first": PROVEN, "second": BEATEN})
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines == [
        "vs. random, exact wins draws losses open",
        "as first 75.0000% 25.0000% 0.0000% 0.0000%",
        "as second 75.0000% 12.5000% 12.5000% 0.0000%",
        "",
        "as first: positions 1,234, mirror images counted once",
        "lines of play 1,000 won, 20 drawn, 0 lost",
        "losing ends 0",
        "",
        "as second: positions 1,234",
        "lines of play 1 won, 2 drawn, 3 lost",
        "losing ends 2",
        "choices to lose 5 positions on losing lines with several moves",
    ]


def test_open_games_are_bounds():
    text = reached_text.reached_table(ENV, {"first": OPEN})
    assert text.splitlines()[-1].split(maxsplit=1)[1] == (
        "games that last more than 9 moves; so the win rate is 75.0000% to 100.0000%"
    )


def test_unbeatable_is_for_the_seats_that_were_learned():
    text = reached_text.reached_verdict(ENV, {"first": PROVEN, "second": PROVEN})
    assert text == (
        "unbeatable: no line of play by any opponent wins against it, as first or as "
        "second (1,234 and 1,234 positions)"
    )
    text = reached_text.reached_verdict("mnk_4x4_4", {"second": PROVEN})
    assert text.startswith("unbeatable: ")
    assert "wins against it, as O (1,234 positions)" in text


@pytest.mark.parametrize("other", [PROVEN, OPEN])
def test_one_losing_line_is_final(other):
    text = reached_text.reached_verdict(ENV, {"first": BEATEN, "second": other})
    head, *boards = text.splitlines()
    assert head == (
        "beatable: a shortest line that beats it, playing as first (8 moves; columns "
        "0 to 3)"
    )
    assert boards[0].split()[::2] == [f"{n}." for n in range(1, 8)]


def test_an_open_seat_claims_nothing():
    cases: list[dict[Seat, Reached]] = [
        {"first": OPEN},
        {"first": PROVEN, "second": OPEN},
    ]
    for grades in cases:
        text = reached_text.reached_verdict(ENV, grades)
        seat = list(grades)[-1]
        assert text == f"not decided beyond move 9 as {seat}: no shorter line beats it"


def test_the_line_is_drawn_in_rows():
    states = one_game.states(ENV, LINE)
    assert one_game.result(states[0], states[-1], "first") == "lost"
    rows = reached_text.drawn_line(ENV, LINE, width=30).split("\n\n")
    assert len(rows) == 4
    assert all(len(line) <= 30 for row in rows for line in row.splitlines())
    assert rows[-1].splitlines() == [
        "  7. X2     8. O1",
        "  - - - -   - O - -",
        "  X O - -   X O - -",
        "  X O - -   X O - -",
        "  X O X -   X O X -",
    ]


def test_the_progress_is_shown_a_few_times_a_second(monkeypatch):
    clock = iter([10.0, 10.1, 10.5, 11.0])
    monkeypatch.setattr(reached_text.time, "monotonic", lambda: next(clock))
    said = []
    subject = Subject(
        env_id="tic_tac_toe", player=RULE, seat="second", merged=False, batch=16
    )
    keys = [np.zeros(1), np.zeros(10)]
    found = Reach(subject, keys=keys, num_expanded=1, num_drawn=1223)
    show = reached_text.progress("tic_tac_toe", "agent", said.append)
    for done in (5, 6, 10):
        show(found, 1, done)
    show(found, 0, 1)
    assert said == [
        "grading agent as O: move 2 |##########          | 1,234 positions",
        "grading agent as O: move 2 |####################| 1,234 positions",
        "losing lines of agent as O: move 1 |####################| 1,234 positions",
    ]


def test_cells_are_numbered_by_the_board():
    """X wins the first row; O has no cell in it."""
    beaten = dataclasses.replace(BEATEN, losing_line=(0, 4, 1, 5, 2, 6, 3))
    text = reached_text.reached_verdict("mnk_4x4_4", {"second": beaten})
    assert text.startswith(
        "beatable: a shortest line that beats it, playing as O (7 moves; cells 0 to "
        "15, row by row)\n  1. X0 "
    )
