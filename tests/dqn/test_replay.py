"""The ring buffer: overwriting and sampling."""

import jax
import made
import numpy as np

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
        live=np.ones(size, bool),
    )


_init = jax.jit(replay.init_buffer, static_argnums=1)
_add = jax.jit(replay.add)
_sample = jax.jit(replay.sample_moves, static_argnums=(2, 3))


def filled(*batches, capacity=5):
    buffer = _init(moves([0]), capacity)
    for batch in batches:
        buffer = _add(buffer, moves(batch))
    return buffer


def test_the_oldest_moves_are_overwritten():
    buffer = filled([1, 2, 3], [4, 5, 6])
    assert sorted(buffer.moves.reward.tolist()) == [2, 3, 4, 5, 6]
    assert (int(buffer.size), int(buffer.next_slot)) == (5, 1)
    buffer = _add(buffer, moves([7]))
    assert sorted(buffer.moves.reward.tolist()) == [3, 4, 5, 6, 7]


def test_a_batch_as_large_as_the_buffer_replaces_all():
    buffer = filled([1, 2], [3, 4, 5, 6, 7])
    assert sorted(buffer.moves.reward.tolist()) == [3, 4, 5, 6, 7]


def test_all_fields_of_a_sample_are_of_one_move():
    drawn = _sample(filled([1, 4, 6]), jax.random.key(0), 200, 1)
    expected = moves(drawn.reward)
    for found, leaf in zip(drawn, expected, strict=True):
        assert np.array_equal(found, leaf)
    assert set(drawn.reward.tolist()) == {1, 4, 6}


def test_moves_are_sampled_uniformly():
    drawn = _sample(filled([1, 2, 3, 4, 5]), jax.random.key(1), 10_000, 1)
    counts = np.bincount(drawn.action, minlength=6)[1:]
    assert ((counts - 2000) ** 2 / 2000).sum() < 18.5  # chi-square, 0.1 %


def test_nothing_is_learned_before_replay_start():
    for batches, start, ready in (
        ([], 0, False),
        ([[1, 2]], 3, False),
        ([[1, 2], [3]], 3, True),
        ([[1]], 0, True),
    ):
        drawn = _sample(filled(*batches), jax.random.key(0), 4, start)
        assert drawn.live.tolist() == [ready] * 4


def test_a_move_of_a_finished_game_is_sampled_as_not_live():
    batch = moves([1, 2])._replace(live=np.array([True, False]))
    buffer = _add(_init(moves([0]), 2), batch)
    drawn = _sample(buffer, jax.random.key(0), 50, 1)
    assert np.array_equal(drawn.live, drawn.reward == 1)
