"""The streams of random numbers of a run."""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Key, UInt32


class Keys(NamedTuple):
    """A run's streams of random numbers, independent of each other."""

    training: jax.Array
    grading: jax.Array
    opponent: jax.Array


def run_key(seed: int) -> UInt32[np.ndarray, " words"]:
    """Return the key of the run with this seed, as its data: 2 words by default."""
    return np.array(jax.random.key_data(jax.random.key(seed)))


def keys(key: Key[Array, ""]) -> Keys:
    """Return the streams of the run with this key, which is consumed."""
    return Keys(*jax.random.split(key, 3))
