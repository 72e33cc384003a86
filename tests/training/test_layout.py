"""The random number streams of a run, and how its arrays lie on the devices."""

import jax
import numpy as np
import pytest

from jax_ttt.training.layout import stream_keys
from jax_ttt.training.run_state import run_key


def test_the_random_number_streams_of_a_run_differ():
    key = jax.random.key(1)
    streams = stream_keys(run_key(1))
    used = [key, *streams]
    used += [jax.random.fold_in(streams.grading, update) for update in (0, 2, 4)]
    assert len({tuple(jax.random.key_data(key).tolist()) for key in used}) == 7


@pytest.mark.parametrize("algorithm", ["threefry2x32", "rbg"])
@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1])
def test_a_runs_key_is_the_data_of_its_seeds_key(algorithm, seed):
    with jax.default_prng_impl(algorithm):
        data = run_key(seed)
        assert isinstance(data, np.ndarray)
        assert data.dtype == np.uint32
        assert (data == jax.random.key_data(jax.random.key(seed))).all()
        typed = jax.random.wrap_key_data(jax.numpy.array(data))
        assert jax.random.bits(typed) == jax.random.bits(jax.random.key(seed))


@pytest.fixture
def offset():
    """Add 5 to all seeds."""
    jax.config.update("jax_random_seed_offset", 5)
    yield
    jax.config.update("jax_random_seed_offset", 0)


@pytest.mark.usefixtures("offset")
def test_an_offset_of_all_seeds_counts():
    assert run_key(1).tolist() == [0, 6]
