"""What the tests of exact results share."""

import pytest
import rules

from jax_ttt.solver import minimax, policies


@pytest.fixture(scope="module")
def players(host_tree):
    """Return each player as a policy, and as the rules in fractions."""
    return {
        "random": (policies.uniform(host_tree), rules.moves),
        "minimax": (minimax.policy(host_tree), rules.best_moves),
        "first": (minimax.policy(host_tree, first_best=True), rules.first_best),
    }
