"""Best responses to a random player, against exact fractions."""

import pytest

from jax_ttt.solver import best_response, outcomes, policies


def test_the_second_player_wins_most_or_gains_most(host_tree):
    random = policies.uniform_policy(host_tree)
    results = {}
    for draw in (0.0, -0.999, -1.0):
        response = best_response.best_response(host_tree, random, draw=draw)
        results[draw] = outcomes.outcome(host_tree, random, response)
    gain = results[0.0].loss_rate - results[0.0].win_rate
    assert gain == pytest.approx(0.93016 - 0.00529, abs=1e-5)
    assert results[-1.0].loss_rate == pytest.approx(887 / 945, abs=1e-12)
    # To win that often, it must lose at least 1.587 % of the games.
    rates = [1 / 63, 43 / 945, 887 / 945]
    assert results[-0.999] == pytest.approx(rates, abs=1e-12)


def test_the_first_player_draws_one_game_in_192(host_tree):
    random = policies.uniform_policy(host_tree)
    response = best_response.best_response(host_tree, random)
    outcome = outcomes.outcome(host_tree, response, random)
    assert outcome == pytest.approx([191 / 192, 1 / 192, 0], abs=1e-12)
