"""The keys of a run's random number streams."""

import jax
import numpy as np
import pytest

from jax_ttt.training.layout import run_key, stream_keys


def test_the_random_number_streams_of_a_run_differ():
    key = jax.random.key(1)
    streams = stream_keys(run_key(1))
    used = [key, *streams]
    used += [jax.random.fold_in(streams.grading, update) for update in (0, 2, 4)]
    assert len({tuple(jax.random.key_data(key).tolist()) for key in used}) == 7


@pytest.mark.parametrize("algorithm", ["threefry2x32", "rbg"])
@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_a_runs_key_is_the_data_of_its_seeds_key(algorithm, seed):
    with jax.default_prng_impl(algorithm):
        data = run_key(seed)
        assert isinstance(data, np.ndarray)
        assert data.dtype == np.uint32
        typed = jax.random.wrap_key_data(jax.numpy.array(data))
        assert jax.random.bits(typed) == jax.random.bits(jax.random.key(seed))
