"""TD targets of networks with known values."""

import jax
import learners
import made
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import Learner
from jax_ttt.networks import q_network
from jax_ttt.players.network_player import network_of

CONFIG = Config.of(hidden_layers=0, canonical=False, precision="float32", tremble=0.5)
TWO_PLY = CONFIG.replace(backup="two-ply")


def params_of(config, *values):
    """Return weights that give these values on every board."""
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    bias = np.arctanh(np.concatenate(values)).astype(np.float32)
    return jax.tree.map(
        lambda w: bias if w.ndim == 1 else np.zeros(w.shape, w.dtype), params
    )


def values(*legal):
    """Return the values of nine moves: these legal ones, and high illegal ones."""
    return [*legal, *[0.95] * (9 - len(legal))]


def batch(discounts):
    """Return moves with a reward of 0.25, after which three moves are legal."""
    count = len(discounts)
    boards = np.zeros((count, 3, 3, 2), bool)
    return made.transition(
        obs=boards,
        action=np.zeros(count, np.int32),
        reward=np.full(count, 0.25, np.float32),
        discount=np.array(discounts, np.float32),
        next_obs=boards,
        next_legal_action_mask=np.tile(np.arange(9) < 3, (count, 1)),
        live=np.ones(count, bool),
    )


def found(config, params, target_params):
    moves = batch([-0.5, 0.5, 0.0])
    return learners.td_targets(Learner.of(config), params, target_params, moves)


ACTING = values(0.0, 0.75, -0.75)
TARGET = values(0.5, 0.25, -0.75)


@pytest.mark.parametrize(
    ("double", "tremble", "worth"),
    [
        (False, 0.0, 0.5),  # best value of the target network
        (False, 0.5, 0.25),  # half of the time random: a mean of 0
        (True, 0.0, 0.25),  # target network's value of the online network's choice
        (True, 0.5, 0.125),
    ],
)
def test_one_ply_targets(double, tremble, worth):
    config = CONFIG.replace(double=double, tremble=tremble)
    got = found(config, params_of(config, ACTING), params_of(config, TARGET))
    expected = [[0.25 - 0.5 * worth, 0.25 + 0.5 * worth, 0.25]]
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_two_ply_targets_are_to_the_mover_and_to_the_waiting_player():
    """The second head holds the values to the player who waits for the move."""
    waiting = values(-0.5, 0.25, 0.625)
    target_params = params_of(TWO_PLY, TARGET, waiting)
    got = found(TWO_PLY, target_params, target_params)
    # The opponent plays action 0 or, half of the time, a random action.
    trembling = 0.5 * -0.5 + 0.5 * 0.125
    expected = [
        [0.25 + 0.5 * trembling, 0.25 + 0.5 * 0.5, 0.25],
        [-0.25 + 0.5 * 0.5, -0.25 + 0.5 * trembling, -0.25],
    ]
    np.testing.assert_allclose(got, expected, atol=1e-5)
