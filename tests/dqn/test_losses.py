"""The loss of a batch and its gradient, compared with results by hand."""

import jax
import learners
import made
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import Learner
from jax_ttt.networks import q_network

CONFIG = Config.of(hidden_layers=0, canonical=False, precision="float32")
_init_params = jax.jit(q_network.init_params)


def moves(live):
    """Return moves in cells 0, 1, 2, ... of empty boards."""
    count = len(live)
    boards = np.zeros((count, 3, 3, 2), bool)
    return made.transition(
        obs=boards,
        action=np.arange(count, dtype=np.int32),
        reward=np.zeros(count, np.float32),
        discount=np.zeros(count, np.float32),
        next_obs=boards,
        next_legal_action_mask=np.ones((count, 9), bool),
        live=np.array(live),
    )


@pytest.mark.parametrize(("loss", "far"), [("mse", 4.5), ("huber", 2.5)])
def test_the_loss_is_a_mean_over_all_moves_and_finished_games_count_0(loss, far):
    """Every value is 0; the errors are 0.5, 3, 0 and, in a finished game, 7."""
    config = CONFIG.replace(loss=loss)
    learner = Learner.of(config)
    params = _init_params(learner.network, jax.random.key(0))
    params = jax.tree.map(np.zeros_like, params)
    target = np.array([[0.5, 3.0, 7.0, 0.0]], np.float32)
    batch = moves([True, True, False, True])
    found = learners.gradient(learner, params, target, batch, jax.random.key(0))
    assert float(found.loss) == pytest.approx((0.125 + far) / 4, abs=1e-6)
    assert found.visits is None
    (bias,) = [leaf for leaf in jax.tree.leaves(found.grads) if leaf.ndim == 1]
    slope = 1.0 if loss == "huber" else 3.0  # tanh's is 1 at 0
    expected = np.zeros(9)
    expected[:2] = -0.5 / 4, -slope / 4
    np.testing.assert_allclose(bias, expected, atol=1e-6)


def test_both_heads_learn_from_each_move():
    """The errors of the first head are 0.5 and 0, those of the second 0 and -3."""
    config = Config.of(network="table", optimizer="sgd", loss="mse", backup="two-ply")
    learner = Learner.of(config)
    params = _init_params(learner.network, jax.random.key(0))
    target = np.array([[0.5, 0.0], [0.0, -3.0]], np.float32)
    batch = moves([True, True])
    found = learners.gradient(learner, params, target, batch, jax.random.key(0))
    assert float(found.loss) == pytest.approx(0.125 / 2 + 4.5 / 2)
