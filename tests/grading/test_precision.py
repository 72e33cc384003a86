"""The products of exact grades: float32 with all its bits, on every device.

By default a GPU or a TPU may round the factors of a product, which no test on a CPU
would see. So the programs are lowered, and what they ask of the device is read.
"""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.dqn.greedy_player import GreedyPlayer
from jax_ttt.grading import training_evaluation
from jax_ttt.players.saved_agents import network_from
from jax_ttt.solver import outcomes, policies, successors

HIGHEST = {"HIGHEST"}
CONFIGS = {
    "dense": {"hidden_size": 8},
    "filters": {"hidden_size": 8, "filters": 2},
    "table": {"network": "table", "canonical": False},
}


def precisions(program, *args):
    """Return the precision of each product of floats in a program, as XLA gets it.

    Products of integers are exact, and their precision has no meaning.
    """
    text = jax.jit(program).lower(*args).as_text()
    products = re.findall(r"stablehlo\.(?:dot|convolution).*f\d+>$", text, re.M)
    found = [re.search(r"precision = \[(\w+), (\w+)\]", line) for line in products]
    return [match and {*match.groups()} for match in found]


def test_a_product_of_default_precision_is_seen():
    """Also inside a loop and a program."""

    def loop(x):
        return jax.lax.fori_loop(0, 2, lambda _, y: jax.jit(jnp.dot)(y, x), x)

    matrix = np.eye(2, dtype=np.float32)
    assert precisions(loop, matrix) == [{"DEFAULT"}]
    exact = functools.partial(jnp.dot, precision="highest")
    assert precisions(exact, matrix, matrix) == [HIGHEST]
    assert precisions(jnp.dot, *[matrix.astype(np.int32)] * 2) == []


@pytest.mark.parametrize("fields", CONFIGS.values(), ids=CONFIGS)
def test_the_grade_of_an_agent_in_training(fields, tree):
    config = Config.of(**fields)
    network = network_from(config.architecture)
    params = tiny.untrained(config).params
    found = precisions(training_evaluation.grade_exactly, network, params, tree)
    assert len(found) >= 2 * (len(tree.level_start) - 2), "the rates and the proof"
    assert all(precision == HIGHEST for precision in found)


def test_the_results_of_two_policies(tree, host_tree):
    uniform = policies.uniform_policy(host_tree).astype(np.float32)
    found = precisions(outcomes.outcome, tree, uniform, uniform)
    assert found == [HIGHEST] * 2 * (len(tree.level_start) - 2)


def test_a_search_of_the_positions_that_an_agent_reaches():
    env_id, words = "connect_4x4", np.zeros((16, 2), np.uint32)
    config = Config.of(env_id=env_id, hidden_size=8)
    network = network_from(config.architecture)
    player = GreedyPlayer(network, tiny.untrained(config).params)
    turns = functools.partial(
        successors.turns_of, env_id, np.int32(0), sees_images=True
    )
    found = precisions(lambda words: turns(words, choose=player), words)
    assert found
    assert all(precision == HIGHEST for precision in found)
    play = functools.partial(successors.play, env_id, np.int32(0), True)
    actions = np.zeros(len(words), np.int32)
    assert all(precision == HIGHEST for precision in precisions(play, words, actions))
