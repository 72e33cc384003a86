"""The highest win rate of a player that never loses, against exact fractions."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from jax_ttt.solver import minimax, outcomes, policies, win_rate_ceiling


def test_in_tic_tac_toe_x_draws_1_game_in_192_and_o_79_in_945(host_tree):
    as_first = win_rate_ceiling.most_wins(host_tree, "first")
    as_second = win_rate_ceiling.most_wins(host_tree, "second")
    assert as_first == pytest.approx(Fraction(191, 192), abs=1e-12)
    assert as_second == pytest.approx(Fraction(866, 945), abs=1e-12)
    random, best = policies.uniform_policy(host_tree), minimax.policy(host_tree)
    assert outcomes.outcome(host_tree, best, random).win_rate < as_first
    assert outcomes.outcome(host_tree, random, best).loss_rate < as_second


def test_without_a_player_that_never_loses_there_is_no_rate(host_tree):
    """If X wins every game, every O loses."""
    always_won = np.where(host_tree.terminal, 1, 0)
    tree = dataclasses.replace(host_tree, outcome=always_won)
    assert win_rate_ceiling.most_wins(tree, "second") == -np.inf
    assert win_rate_ceiling.most_wins(tree, "first") == 1
