"""The lengths of a run's chunks."""

import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.training import chunks


@pytest.mark.parametrize(
    ("num_updates", "eval_every"),
    [(6, 6), (110, 60), (1500, 150), (438, 44), (400, 40), (30, 100), (100, 50)],
)
@pytest.mark.parametrize("num_envs", [64, 100_000])
def test_every_length_of_a_runs_chunks_is_compiled_ahead(
    num_updates, eval_every, num_envs
):
    config = Config.of(
        num_updates=num_updates, eval_every=eval_every, num_envs=num_envs
    )
    update, lengths = 0, set()
    while update < num_updates:
        lengths.add(chunks.length(config, update))
        update += chunks.length(config, update)
    assert chunks.lengths(config) == lengths


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
