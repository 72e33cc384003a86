"""TD targets by backup, compared with results by hand."""

import jax
import learners
import made
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import DQN
from jax_ttt.networks import q_network
from jax_ttt.players.saved_agents import network_from

CONFIG = Config.of(hidden_layers=0, canonical=False, precision="float32", tremble=0.5)


def params_with(config, values):
    """Return weights with these values on every board, -1 to 1."""
    shapes = q_network.param_shapes(network_from(config.architecture))
    bias = np.arctanh(values).astype(np.float32)
    return jax.tree.map(
        lambda w: bias if w.ndim == 1 else np.zeros(w.shape, w.dtype), shapes
    )


def td_targets(config, params, target_params):
    """Return the targets of moves with reward 0.25, after which three are legal.

    The opponent, the mover or nobody moves next.
    """
    boards = np.zeros((3, 3, 3, 2), bool)
    batch = made.transition(
        obs=boards,
        action=np.zeros(3, np.int32),
        reward=np.full(3, 0.25, np.float32),
        discount=np.array([-0.5, 0.5, 0.0], np.float32),
        next_obs=boards,
        next_legal_action_mask=np.tile(np.arange(9) < 3, (3, 1)),
        live=np.ones(3, bool),
    )
    return learners.td_targets(DQN.of(config), params, target_params, batch)


ILLEGAL = [0.95] * 6
IN_TRAINING = [0.0, 0.75, -0.75, *ILLEGAL]
TARGET = [0.5, 0.25, -0.75, *ILLEGAL]


@pytest.mark.parametrize(
    ("double", "tremble", "value"),
    [
        (False, 0.0, 0.5),  # best value of the target network
        (False, 0.5, 0.25),  # half of the time random: a mean of 0
        (True, 0.0, 0.25),  # target network's value of the online network's choice
        (True, 0.5, 0.125),
    ],
)
def test_one_ply_targets(double, tremble, value):
    config = CONFIG.replace(double=double, tremble=tremble)
    params, target_params = (params_with(config, v) for v in (IN_TRAINING, TARGET))
    target = td_targets(config, params, target_params)
    expected = [[0.25 - 0.5 * value, 0.25 + 0.5 * value, 0.25]]
    np.testing.assert_allclose(target, expected, atol=1e-5)
