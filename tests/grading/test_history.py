"""A row of an agent's history is measured exactly, and names what is unknown."""

import numpy as np
import pytest
import rules
from jax_ttt.grading.history import history_row, measured_row, optimal_by_seat

from jax_ttt.config.catalogue import SEATS, SIDES
from jax_ttt.grading import exact as grades
from jax_ttt.grading.grade import Rates
from jax_ttt.solver import minimax, policies


def lowest(tree):
    """Return the policy of the lowest legal move."""
    here = tree.decisions
    return policies.deterministic(tree, tree.legal_action_mask[here].argmax(axis=1))


def test_a_measured_row_has_the_rates_of_the_full_report(host_tree):
    probs = lowest(host_tree)
    report = grades.exactly(host_tree, probs, SEATS)
    row = measured_row(host_tree, 7, probs)
    for seat, side in SIDES.items():
        rates = report.opponents["random"][seat]
        assert row[side]["wins"] == pytest.approx(rates.win_rate)
        assert row[side]["draws"] == pytest.approx(rates.draw_rate)
        assert row[side]["losses"] == pytest.approx(rates.loss_rate)
    assert (row["update"], row["unbeatable"]) == (7, False)
    assert row["games"] is row["loss"] is row["seconds"] is None


def test_best_play_is_unbeatable_and_plays_only_best_moves(host_tree):
    row = measured_row(host_tree, 0, minimax.policy(host_tree))
    assert row["unbeatable"] is True
    assert [row[side]["losses"] for side in "xo"] == [0, 0]
    assert [row[side]["optimal"] for side in "xo"] == [pytest.approx(1)] * 2


def test_the_share_of_best_moves_is_of_the_seats_positions(host_tree, boards):
    found = optimal_by_seat(host_tree, lowest(host_tree))
    for letter, seat in zip("XO", SEATS, strict=True):
        own = [b for b in boards if rules.moves(b) and rules.mover(b) == letter]
        right = [rules.moves(b)[0] in rules.best_moves(b) for b in own]
        assert found[seat] == pytest.approx(np.mean(right))


def test_what_is_unknown_is_none():
    rates = dict.fromkeys(SEATS, Rates(win_rate=0.5, draw_rate=0.25, loss_rate=0.25))
    row = history_row(3, rates, False, games=9)
    side = {"wins": 0.5, "draws": 0.25, "losses": 0.25, "optimal": None}
    assert row == {
        "update": 3,
        "games": 9,
        "x": side,
        "o": side,
        "loss": None,
        "unbeatable": False,
        "seconds": None,
    }
