"""Games on the tree against simple opponents."""

import pytest

from jax_ttt.sessions.games import Games, Opponent
from jax_ttt.solver import minimax


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def games(clock):
    return Games("tic_tac_toe", clock)


@pytest.fixture
def perfect(host_tree):
    return Opponent({"level": "expert"}, minimax.policy(host_tree))
