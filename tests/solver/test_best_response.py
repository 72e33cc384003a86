"""Best responses and exploitability."""

import pytest

from jax_ttt.grading import exact as grades
from jax_ttt.solver import best_response, minimax, outcomes, policies


def test_the_best_responses_to_a_random_player(host_tree, players):
    random = players["random"][0]
    best = best_response.best_response(host_tree, random)
    found = outcomes.outcome(host_tree, random, best)
    gain = found.loss_rate - found.win_rate
    assert gain == pytest.approx(0.93016 - 0.00529, abs=1e-5)
    winner = best_response.best_response(host_tree, random, draw=-1.0)
    found = outcomes.outcome(host_tree, random, winner)
    assert found.loss_rate == pytest.approx(887 / 945, abs=1e-12)
    # To win that often it must lose at least 1.587 % of the games.
    careful = best_response.best_response(host_tree, random, draw=-0.999)
    found = outcomes.outcome(host_tree, random, careful)
    assert found == pytest.approx([1 / 63, 43 / 945, 887 / 945], abs=1e-12)


def test_no_opponent_gains_against_minimax(host_tree, players):
    for name in ("minimax", "first"):
        assert best_response.exploitability(host_tree, players[name][0]) == 0
        rate = grades.optimal_move_rate(host_tree, players[name][0])
        assert rate.all == pytest.approx(1)
        assert rate.reachable == pytest.approx(1)


def test_exploitability_of_a_player_that_always_loses_is_one(host_tree):
    first_cell = policies.shared(minimax.first_marked(host_tree.legal_action_mask))
    assert best_response.exploitability(host_tree, first_cell) == 1


def test_the_first_player_responds_to_a_random_one(host_tree, players):
    random = players["random"][0]
    best = best_response.best_response(host_tree, random)
    found = outcomes.outcome(host_tree, best, random)
    assert found == pytest.approx([191 / 192, 1 / 192, 0], abs=1e-12)
