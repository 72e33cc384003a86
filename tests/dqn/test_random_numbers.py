"""The random numbers of updates are independent."""

import jax
import learners
import numpy as np

from jax_ttt.config.settings import Config

CONFIG = Config.of(num_envs=1000)


def test_runs_updates_and_turns_have_different_numbers():
    backward = CONFIG.replace(backward=True, network="table", optimizer="sgd")
    numbers = np.concatenate(
        [
            learners.draw(backward, jax.random.key(seed), update).turns.uniform
            for seed in range(2)
            for update in range(3)
        ]
    )
    assert numbers.shape == (2 * 3 * 9, 1000)  # at most nine moves a game
    correlation = np.corrcoef(numbers) - np.eye(len(numbers))
    assert np.abs(correlation).max() < 0.2  # 6 standard deviations
    assert 0 <= numbers.min() < 1e-3
    assert 0.999 < numbers.max() < 1


def test_all_keys_of_an_update_differ():
    config = CONFIG.replace(env_id="connect_4x4", start_share=0.5)
    drawn = learners.draw(config, jax.random.key(3), 7)
    keys = (
        drawn.first.reply_key,
        drawn.first.learn_key,
        drawn.restart_key,
        drawn.sample_key,
    )
    assert len({bytes(jax.random.key_data(key)) for key in keys}) == 4
    for key in keys:
        for numbers in (drawn.starts, drawn.first.uniform):
            assert not np.array_equal(numbers, jax.random.uniform(key, (1000,)))
