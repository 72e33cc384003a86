"""The random numbers of updates: independent, and the same for any chunks."""

import jax
import learners
import numpy as np

from jax_ttt.config.settings import Config

CONFIG = Config.of(num_envs=1000)


def words(drawn):
    """Return an update's uniform numbers and the data of its keys."""
    keys = (*drawn.turns[1:], drawn.restart_key, drawn.sample_key)
    numbers = [np.ravel(jax.random.key_data(key)) for key in keys]
    return [np.ravel(drawn.turns.uniform), *numbers]


def test_an_updates_numbers_depend_only_on_its_index():
    """They are the same if generated alone or for a chunk."""
    key = jax.random.key(3)
    chunk = jax.vmap(lambda update: learners.draw(CONFIG, key, update))(np.arange(5, 9))
    for row, update in enumerate(range(5, 9)):
        alone = learners.draw(CONFIG, key, update)
        of_chunk = jax.tree.map(lambda x, i=row: x[i], chunk)
        for a, b in zip(words(alone), words(of_chunk), strict=True):
            assert np.array_equal(a, b)


def test_runs_updates_and_turns_have_different_numbers():
    backward = CONFIG.replace(backward=True, network="table", optimizer="sgd")
    seen = [
        learners.draw(backward, jax.random.key(seed), update).turns.uniform
        for seed in range(2)
        for update in range(3)
    ]
    rows = np.concatenate(seen)
    assert rows.shape == (2 * 3 * 9, 1000)  # at most nine moves a game
    correlation = np.corrcoef(rows) - np.eye(len(rows))
    assert np.abs(correlation).max() < 0.2  # 6 standard deviations
    assert 0 <= rows.min() < 1e-3
    assert 0.999 < rows.max() < 1


def test_all_keys_of_an_update_differ():
    drawn = learners.draw(CONFIG, jax.random.key(3), 7)
    keys = [tuple(part) for part in words(drawn)[1:]]

    assert len(set(keys)) == len(keys) == 4


def test_the_starts_of_new_games_have_a_key_of_their_own():
    config = CONFIG.replace(env_id="connect_4x4", start_share=0.5)
    drawn = learners.draw(config, jax.random.key(3), 7)
    keys = (drawn.restart_key, drawn.sample_key, *drawn.turns.reply_key)
    for key in (*keys, *drawn.turns.learn_key):
        assert not np.array_equal(drawn.starts, jax.random.uniform(key, (1000,)))
