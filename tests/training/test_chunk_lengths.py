"""The lengths of the chunks of a run."""

import itertools

import pytest

from jax_ttt.config.settings import Config
from jax_ttt.training import chunk_lengths


@pytest.mark.parametrize(
    ("fields", "length"),
    [
        ({}, chunk_lengths.CHUNK),
        ({"network": "table", "num_envs": 2**20}, chunk_lengths.CHUNK),
        ({"num_envs": 100_000, "hidden_size": 128}, 27),
        ({"num_envs": 2**20, "hidden_size": 2**14}, 1),
        ({"num_envs": 2**18, "filters": 256, "hidden_layers": 0}, 31),
        ({"hidden_size": 512, "replay_capacity": 2**20, "replay_batch": 2**18}, 1),
    ],
)
def test_large_updates_have_short_chunks_since_signals_wait(fields, length):
    assert chunk_lengths.longest_chunk(Config.of(**fields)) == length


def test_every_chunk_of_a_run_has_a_length_that_is_compiled_before_it():
    for num_updates, every in itertools.product(
        [1, 49, 50, 120, 1000], [1, 7, 50, 60, 110, 2000]
    ):
        config = Config.of(num_updates=num_updates, eval_every=every)
        update, lengths = 0, set()
        while update < num_updates:
            length = chunk_lengths.next_chunk_length(config, update)
            assert update // every == (update + length - 1) // every
            lengths.add(length)
            update += length
        assert update == num_updates
        assert chunk_lengths.all_chunk_lengths(config) == sorted(lengths, reverse=True)
