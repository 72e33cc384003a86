"""The lengths of a run's chunks."""

import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.training import chunks


@pytest.mark.parametrize(
    ("fields", "length"),
    [
        ({}, chunks.CHUNK),
        ({"network": "table", "num_envs": 2**20}, chunks.CHUNK),
        ({"num_envs": 2**19, "hidden_size": 16}, chunks.CHUNK),
        ({"num_envs": 100_000, "hidden_size": 128}, 27),
        ({"num_envs": 2**20, "hidden_size": 2**14}, 1),
        ({"num_envs": 2**20, "hidden_layers": 0}, chunks.CHUNK),
        ({"num_envs": 2**18, "filters": 256, "hidden_layers": 0}, 31),
        ({"hidden_size": 512, "replay_capacity": 2**20, "replay_batch": 2**18}, 1),
    ],
)
def test_large_updates_have_short_chunks_since_signals_wait(fields, length):
    assert chunks.longest_chunk(Config.of(**fields)) == length


@pytest.mark.parametrize("preset", PRESETS)
def test_the_chunks_of_the_presets_are_the_longest(preset):
    assert chunks.longest_chunk(PRESETS[preset]) == chunks.CHUNK
