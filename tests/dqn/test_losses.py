"""TD targets by backup, the loss of a batch and its gradient, by hand."""

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
TABLE = Config.of(network="table", optimizer="sgd", loss="mse", backup="two-ply")


def params_with(config, *values):
    """Return weights with these values on every board, -1 to 1, head by head."""
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    bias = np.arctanh(np.concatenate(values)).astype(np.float32)
    return jax.tree.map(
        lambda w: bias if w.ndim == 1 else np.zeros(w.shape, w.dtype), params
    )


def moves(discount, live):
    """Return moves in cells 0, 1, ... with reward 0.25; three moves are legal then."""
    size = len(discount)
    boards = np.zeros((size, 3, 3, 2), bool)
    return made.transition(
        obs=boards,
        action=np.arange(size, dtype=np.int32),
        reward=np.full(size, 0.25, np.float32),
        discount=np.array(discount, np.float32),
        next_obs=boards,
        next_legal_action_mask=np.tile(np.arange(9) < 3, (size, 1)),
        live=np.array(live),
    )


def td_targets(config, params, target_params):
    """Return the targets if the opponent, the mover or nobody moves next."""
    batch = moves(discount=[-0.5, 0.5, 0.0], live=[True] * 3)
    return learners.td_targets(Learner.of(config), params, target_params, batch)


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


def test_two_ply_targets_are_to_the_mover_and_to_the_waiting_player():
    """The second head holds the values to the player who waits for the move."""
    config = CONFIG.replace(backup="two-ply")
    params = params_with(config, TARGET, [-0.5, 0.25, 0.625, *ILLEGAL])
    # The opponent plays action 0 or, half of the time, a random action.
    trembling = 0.5 * -0.5 + 0.5 * 0.125
    expected = [
        [0.25 + 0.5 * trembling, 0.25 + 0.5 * 0.5, 0.25],
        [-0.25 + 0.5 * 0.5, -0.25 + 0.5 * trembling, -0.25],
    ]
    np.testing.assert_allclose(td_targets(config, params, params), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("loss", "cost", "slope"), [("mse", 4.5, 3.0), ("huber", 2.5, 1.0)]
)
def test_the_loss_is_a_mean_over_all_moves_and_finished_games_count_0(
    loss, cost, slope
):
    """Every value is 0; the errors are 0.5, 3, 0 and, in a finished game, 7."""
    learner = Learner.of(CONFIG.replace(loss=loss))
    params = params_with(CONFIG, [0.0] * 9)
    target = np.array([[0.5, 3.0, 7.0, 0.0]], np.float32)
    batch = moves(discount=[0.0] * 4, live=[True, True, False, True])
    gradient = learners.gradient(learner, params, target, batch, jax.random.key(0))
    assert float(gradient.loss) == pytest.approx((0.125 + cost) / 4, abs=1e-6)
    assert gradient.visits is None
    (bias,) = [leaf for leaf in jax.tree.leaves(gradient.grads) if leaf.ndim == 1]
    expected = np.zeros(9)
    expected[:2] = -0.5 / 4, -slope / 4  # the slope of tanh is 1 at 0
    np.testing.assert_allclose(bias, expected, atol=1e-6)


def test_both_heads_learn_from_each_move():
    """The errors of the first head are 0.5 and 0, those of the second 0 and -3."""
    learner = Learner.of(TABLE)
    params = q_network.init_params(learner.network, jax.random.key(0))
    target = np.array([[0.5, 0.0], [0.0, -3.0]], np.float32)
    batch = moves(discount=[0.0] * 2, live=[True] * 2)
    gradient = learners.gradient(learner, params, target, batch, jax.random.key(0))
    assert float(gradient.loss) == pytest.approx(0.125 / 2 + 4.5 / 2)
