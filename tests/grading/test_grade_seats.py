"""A grade without details: the same numbers, of the positions of each seat."""

import dataclasses

import numpy as np
import pytest
import rules

from jax_ttt.config.game_facts import SEATS
from jax_ttt.grading import exact
from jax_ttt.solver import minimax, policies


def lowest(tree):
    """Return the policy of the lowest legal move."""
    here = tree.decisions
    return policies.deterministic(tree, tree.legal_action_mask[here].argmax(axis=1))


def test_it_is_the_full_grade_without_the_details(host_tree):
    graded = [
        function("tic_tac_toe", host_tree, lowest(host_tree), ("second",))
        for function in (exact.grade_policy, exact.grade_seats)
    ]
    full, short = (
        dataclasses.replace(grade, first=None, second=None, details=None)
        for grade in graded
    )
    assert short == full
    assert graded[1].details is None
    for seat in SEATS:
        full, short = (vars(grade.seat(seat)).copy() for grade in graded)
        for name in ("win_rate", "draw_rate", "loss_rate", "worst_loss_rate"):
            assert short.pop(name) == pytest.approx(full.pop(name))
        assert short == full


def test_best_play_is_unbeatable_and_plays_only_best_moves(host_tree):
    best = minimax.policy(host_tree)
    grade = exact.grade_seats("tic_tac_toe", host_tree, best)
    assert grade.unbeatable is True
    for seat in SEATS:
        assert grade.followed[seat].loss_rate == 0
        assert grade.followed[seat].losing_line is None
        assert grade.followed[seat].optimal_move_rate == pytest.approx(1)


def test_the_share_of_best_moves_is_of_the_seats_positions(host_tree, boards):
    grade = exact.grade_seats("tic_tac_toe", host_tree, lowest(host_tree))
    for letter, seat in zip("XO", SEATS, strict=True):
        own = [b for b in boards if rules.moves(b) and rules.mover(b) == letter]
        right = [rules.moves(b)[0] in rules.best_moves(b) for b in own]
        assert grade.followed[seat].optimal_move_rate == pytest.approx(np.mean(right))
    assert grade.unbeatable is False
