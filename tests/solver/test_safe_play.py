"""The ceiling, compared with exact fractions and with minimax players."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from jax_ttt.config.game_facts import SEATS
from jax_ttt.solver import minimax, outcomes, policies, safe_play


def test_the_ceiling_of_tic_tac_toe(host_tree):
    wins = {seat: safe_play.most_wins(host_tree, seat) for seat in SEATS}
    # At best, X draws 1 game in 192 and O draws 79 in 945.
    assert wins["first"] == pytest.approx(Fraction(191, 192), abs=1e-12)
    assert wins["second"] == pytest.approx(Fraction(866, 945), abs=1e-12)
    assert 100 * np.mean(list(wins.values())) == pytest.approx(95.5597, abs=5e-5)


def test_no_player_of_minimax_moves_wins_more(host_tree):
    random = policies.uniform(host_tree)
    for first_best in (True, False):
        probs = minimax.policy(host_tree, first_best=first_best)
        as_first = outcomes.outcome(host_tree, probs, random).win_rate
        as_second = outcomes.outcome(host_tree, random, probs).loss_rate
        assert as_first <= safe_play.most_wins(host_tree, "first") + 1e-12
        assert as_second <= safe_play.most_wins(host_tree, "second") + 1e-12


def test_without_a_player_that_never_loses_there_is_no_ceiling(host_tree):
    """If X wins every game, every O loses."""

    won = np.where(host_tree.terminal, 1, 0)
    lost = dataclasses.replace(host_tree, outcome=won)
    assert safe_play.most_wins(lost, "second") == -np.inf
    assert safe_play.most_wins(lost, "first") == 1
