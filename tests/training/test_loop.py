"""A run's chunks, its evaluations and its size."""

import jax
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.evaluation import network_grades
from jax_ttt.players.network import network_of, params_from
from jax_ttt.runtime import named_arrays
from jax_ttt.training import loop


@pytest.mark.parametrize(
    ("num_updates", "eval_every"),
    [(6, 6), (110, 60), (1500, 150), (438, 44), (400, 40), (30, 100), (100, 50)],
)
def test_every_length_of_a_runs_chunks_is_compiled_ahead(num_updates, eval_every):
    config = Config.of(num_updates=num_updates, eval_every=eval_every)
    update, lengths = 0, set()
    while update < num_updates:
        lengths.add(loop._length(config, update))
        update += loop._length(config, update)
    assert loop._lengths(config) == lengths


def test_an_agents_size_is_that_of_its_state_and_more():
    weights = 9 * 8 + 8 + 8 * 8 + 8 + 8 * 9 + 9
    least = 4 * 4 * weights  # params, target, two moments of Adam; 4 bytes each
    config = Config.of(
        num_envs=16, hidden_size=8, num_updates=6, eval_every=6, eval_games=0
    )
    assert least < loop.size(config, None) < 100 * least


def test_what_is_evaluated_is_the_agent_and_not_its_target(tree):
    config = Config.of(
        num_envs=8, hidden_size=8, num_updates=4, eval_every=2, eval_games=0, tau=0.1
    )
    network, key = network_of(config.architecture), jax.random.key(0)
    differs = False
    for step in loop.train_from_scratch(config, 3, tree):
        if step.evaluation is None:
            continue
        named = step.params, named_arrays.part(step.state.learner, "target_params")
        expected, other = (
            network_grades.evaluate(
                network, params_from(network, one), key, tree, config.seats, 0
            )
            for one in named
        )
        rows = map(jax.tree.leaves, (step.evaluation, expected, other))
        for found, own, targets in zip(*rows, strict=True):
            np.testing.assert_allclose(found, own, atol=1e-6)
            differs |= bool((found != targets).any())
    assert differs, "the target's results are others"


def test_a_run_that_goes_on_knows_its_last_evaluation(tree):
    config = Config.of(
        num_envs=8, hidden_size=8, num_updates=4, eval_every=4, eval_games=0
    )
    steps = list(loop.graded_steps(loop.train_from_scratch(config, 3, tree)))
    state, summary = steps[0][0].state, steps[0][1]
    first = next(loop.train_from_scratch(config, 3, tree)).state
    again = next(loop.graded_steps(loop.continue_training(config, first, tree)))
    assert again[0].evaluation is None
    assert again[1] == summary
    assert state.last is not None
