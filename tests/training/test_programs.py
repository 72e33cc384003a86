"""A run's programs and its streams of random numbers."""

import jax

from jax_ttt.training import programs


def test_a_runs_streams_of_random_numbers_are_apart():
    key = jax.random.key(1)
    grading = programs.keys(key).grading
    used = [key, *programs.keys(key)]
    used += [jax.random.fold_in(grading, update) for update in (0, 2, 4)]
    assert len({tuple(jax.random.key_data(key).tolist()) for key in used}) == 7
