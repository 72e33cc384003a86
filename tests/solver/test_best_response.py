"""Best responses."""

import pytest

from jax_ttt.solver import best_response, outcomes


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


def test_the_first_player_responds_to_a_random_one(host_tree, players):
    random = players["random"][0]
    best = best_response.best_response(host_tree, random)
    found = outcomes.outcome(host_tree, best, random)
    assert found == pytest.approx([191 / 192, 1 / 192, 0], abs=1e-12)
