"""Fixtures for the tests of exact results."""

import pytest
import rules

from jax_ttt.solver import minimax, policies


@pytest.fixture(scope="module")
def players(host_tree):
    """Return each player as a policy, and as a function of the independent rules."""
    return {
        "random": (policies.uniform(host_tree), rules.moves),
        "minimax": (minimax.policy(host_tree), rules.best_moves),
        "first": (minimax.policy(host_tree, first_best=True), rules.first_best),
    }
