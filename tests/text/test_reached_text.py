"""Results over all positions that a player reaches, as text."""

import dataclasses

import made
import numpy as np
from rule_player import RULE

from jax_ttt.config.catalogue import Seat
from jax_ttt.grading.grade import Lines, Reached
from jax_ttt.solver.expansion import Subject
from jax_ttt.solver.reach import Reach
from jax_ttt.text import reached_text

ENV = "connect_4x4"
PROVEN = made.reached()
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


def test_the_tables_and_verdicts(snapshot):
    """One losing line is final; else an open seat claims nothing."""
    seats: list[dict[Seat, Reached]] = [
        {"first": PROVEN, "second": PROVEN},
        {"first": BEATEN, "second": OPEN},
        {"first": PROVEN, "second": OPEN},
    ]
    texts = [
        text
        for grades in seats
        for text in (
            reached_text.reached_table(ENV, grades),
            reached_text.reached_verdict(ENV, grades),
        )
    ]
    assert "\n\n".join(texts) == snapshot


def test_unbeatable_is_for_the_seats_that_were_learned():
    text = reached_text.reached_verdict("mnk_4x4_4", {"second": PROVEN})
    assert text.startswith("unbeatable: ")
    assert "as O (1,234 positions)" in text
    assert "as X" not in text


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
    assert [text.count("#") for text in said] == [10, 20, 20]
    assert all("agent as O" in text and "1,234 positions" in text for text in said)
