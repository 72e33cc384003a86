"""The ring buffer: overwriting and sampling."""

import jax
import made
import numpy as np
import pytest

from jax_ttt.dqn import replay


def moves(numbers):
    """Return a batch of moves with these numbers as rewards."""
    numbers = np.asarray(numbers, np.float32)
    size = len(numbers)
    return made.transition(
        obs=np.stack([numbers > 2, numbers > 5], axis=1),
        action=numbers.astype(np.int32),
        reward=numbers,
        discount=-numbers,
        next_obs=np.stack([numbers > 3, numbers > 4], axis=1),
        next_legal_action_mask=np.ones((size, 9), bool),
        live=numbers != 4,  # the move 4 is one of a finished game
    )


_init = jax.jit(replay.init_buffer, static_argnums=1)
_add = jax.jit(replay.add_moves)
_sample = jax.jit(replay.sample_moves, static_argnums=(2, 3))


def filled(*batches):
    """Return a buffer of five moves after these were added."""
    buffer = _init(moves([0]), 5)
    for batch in batches:
        buffer = _add(buffer, moves(batch))
    return buffer


@pytest.mark.parametrize(
    ("batches", "numbers"),
    [
        ([[1, 2, 3], [4, 5, 6]], [2, 3, 4, 5, 6]),
        ([[1, 2, 3], [4, 5, 6], [7]], [3, 4, 5, 6, 7]),
        ([[1, 2], [3, 4, 5, 6, 7]], [3, 4, 5, 6, 7]),
    ],
)
def test_the_oldest_moves_are_overwritten(batches, numbers):
    assert sorted(filled(*batches).moves.reward.tolist()) == numbers


def test_all_fields_of_a_sample_are_of_one_move():
    batch = _sample(filled([1, 4, 6]), jax.random.key(0), 200, 1)
    for leaf, expected in zip(batch, moves(batch.reward), strict=True):
        assert np.array_equal(np.asarray(leaf), np.asarray(expected))
    assert set(batch.reward.tolist()) == {1, 4, 6}


def test_moves_are_sampled_uniformly():
    batch = _sample(filled([1, 2, 3, 4, 5]), jax.random.key(1), 10_000, 1)
    counts = np.bincount(batch.action, minlength=6)[1:]
    assert ((counts - 2000) ** 2 / 2000).sum() < 18.5  # chi-square, 0.1%
