"""The random numbers of updates: independent, and the same for any chunks."""

import jax
import jax.numpy as jnp
import learners
import numpy as np

from jax_ttt.config.settings import Config

CONFIG = Config.of(num_envs=1000)


@jax.jit
def key_data(drawn):
    """Return random numbers with the data of their keys."""
    is_key = jax.dtypes.prng_key
    return jax.tree.map(
        lambda x: jax.random.key_data(x) if jnp.issubdtype(x.dtype, is_key) else x,
        drawn,
    )


def data(drawn):
    """Return random numbers, and the data of their keys, as NumPy arrays."""
    return jax.device_get(key_data(drawn))


def test_an_updates_numbers_depend_only_on_its_index():
    key = jax.random.key(3)
    chunk = jax.vmap(lambda update: learners.draw(CONFIG, key, update))(np.arange(5, 9))
    for row, update in enumerate(range(5, 9)):
        alone = learners.draw(CONFIG, key, update)
        for a, b in zip(*map(jax.tree.leaves, map(data, (alone, chunk))), strict=True):
            np.testing.assert_array_equal(a, b[row])


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
