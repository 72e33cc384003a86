"""An evaluation in training as a grade."""

import functools

import jax
import made
import numpy as np
import pytest
import tiny

from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.grading import training_evaluation, tree_grade
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.players.saved_agents import greedy_policy, network_from

CONFIG = Config.of(hidden_size=16)


NETWORK = network_from(CONFIG.architecture)
grade_exactly = jax.jit(functools.partial(training_evaluation.grade_exactly, NETWORK))


@pytest.fixture(scope="module")
def params():
    """Return first weights."""
    return tiny.untrained(CONFIG).params


def test_a_network_in_training_has_the_grade_of_its_policy(params, tree, host_tree):
    results = jax.device_get(grade_exactly(params, tree))
    grade = training_evaluation.grade_evaluation(
        CONFIG, Evaluation(exact=results, sampled=None)
    )
    probs = np.asarray(greedy_policy(NETWORK, params, tree), float)
    expected = tree_grade.grade_policy(
        CONFIG.env_id, host_tree, probs, "construction", with_details=False
    )
    assert grade.unbeatable is expected.unbeatable is False
    for seat, results_in_seat in grade.followed.items():
        other = expected.followed[seat]
        assert results_in_seat.unbeatable is other.unbeatable
        assert results_in_seat.worst_loss_rate == other.worst_loss_rate
        np.testing.assert_allclose(results_in_seat.rates, other.rates, atol=1e-6)


def test_a_network_of_nan_has_no_grade(params, tree):
    params = jax.tree.map(lambda x: np.full_like(x, np.nan), params)
    results = jax.device_get(grade_exactly(params, tree))
    with pytest.raises(FloatingPointError, match="not finite"):
        training_evaluation.grade_evaluation(
            CONFIG, Evaluation(exact=results, sampled=None)
        )


def test_a_match_in_training_has_the_rates_of_its_games():
    counts = jax.device_put(np.array([(2, 1, 1), (0, 1, 3)], np.int32))
    grade = training_evaluation.grade_evaluation(
        CONFIG, Evaluation(exact=None, sampled=counts)
    )
    sampled = made.sampled((0.5, 0.25), (0.0, 0.25))
    assert grade == Grade(env_id="tic_tac_toe", sampled=sampled)


@pytest.mark.parametrize("searched", [made.searched(second=False), {}, None])
def test_a_search_is_the_grade_of_its_seats(searched):
    config = Config.of(env_id="connect_4x4", opponent="random", seat="second")
    results = Evaluation(exact=None, sampled=None, searched=searched)
    grade = training_evaluation.grade_evaluation(config, results)
    assert grade == made.grade(searched, seats=("second",))
