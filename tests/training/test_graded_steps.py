"""A run's steps with the grades of their last evaluation."""

import pytest

from jax_ttt.config.settings import Config
from jax_ttt.training import graded_steps, loop


@pytest.mark.slow
def test_a_continued_run_knows_its_last_evaluation(tree):
    config = Config.of(
        num_envs=8, hidden_size=8, num_updates=4, eval_every=4, eval_games=0
    )
    steps = list(graded_steps.with_grades(loop.train_from_scratch(config, 3, tree)))
    state, summary = steps[0][0].state, steps[0][1]
    first = next(loop.train_from_scratch(config, 3, tree)).state
    again = next(graded_steps.with_grades(loop.continue_training(config, first, tree)))
    assert again[0].evaluation is None
    assert again[1] == summary
    assert state.last is not None
