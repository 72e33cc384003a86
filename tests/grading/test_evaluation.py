"""An evaluation in training as a grade."""

import jax
import jax.numpy as jnp
import made
import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.grading import evaluation, exact, match
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.grading.grade import Grade
from jax_ttt.grading.match import MatchCounts, SeatCounts
from jax_ttt.players.network_player import greedy_policy, network_of

CONFIG = Config.of(hidden_size=16)


def test_a_network_in_training_has_the_grade_of_its_policy(tree, host_tree):
    network, params = network_of(CONFIG.architecture), tiny.untrained(CONFIG).params
    results = evaluation.grade_exactly(network, params, tree)
    found = evaluation.grade_of(CONFIG, Evaluation(exact=results, sampled=None))
    probs = np.asarray(greedy_policy(network, params, tree), float)
    expected = exact.grade_policy(CONFIG.env_id, host_tree, probs)
    assert found.unbeatable is expected.unbeatable is False
    for seat, grade in found.followed.items():
        other = expected.followed[seat]
        assert grade.unbeatable is other.unbeatable
        assert grade.worst_loss_rate == other.worst_loss_rate
        for rate, known in zip(grade.rates, other.rates, strict=True):
            assert rate.value == pytest.approx(known.value, abs=1e-6)
    np.testing.assert_array_equal(results.moves, probs.argmax(axis=1)[tree.decisions])


def test_a_network_of_nan_has_no_evaluation(tree):
    network, params = network_of(CONFIG.architecture), tiny.untrained(CONFIG).params
    params = jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), params)
    results = evaluation.grade_exactly(network, params, tree)
    with pytest.raises(FloatingPointError, match="not finite"):
        evaluation.grade_of(CONFIG, Evaluation(exact=results, sampled=None))


def test_a_match_in_training_has_the_rates_of_its_games():
    rows = (2, 1, 1), (0, 1, 3)
    counts = MatchCounts(*(SeatCounts(*map(jnp.int32, row)) for row in rows))
    grade = evaluation.grade_of(CONFIG, Evaluation(exact=None, sampled=counts))
    sampled = made.sampled((0.5, 0.25), (0.0, 0.25))
    assert match.match_of_counts(counts) == sampled
    assert grade == Grade(env_id="tic_tac_toe", sampled=sampled)


@pytest.mark.parametrize("searched", [made.searched(second=False), {}, None])
def test_a_search_stays_as_it_is_unless_it_was_interrupted(searched):
    config = Config.of(env_id="connect_4x4", opponent="random", seat="second")
    results = Evaluation(exact=None, sampled=None, searched=searched)
    found = evaluation.grade_of(config, results)
    assert found == made.grade(searched, seats=("second",))
