"""The random number streams of a run."""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Key, UInt32


class Keys(NamedTuple):
    """The keys of a run's independent random number streams."""

    training: jax.Array
    grading: jax.Array
    opponent: jax.Array


def run_key(seed: int) -> UInt32[np.ndarray, " words"]:
    """Return the key of the run with this seed as its data, 2 words by default."""
    algorithm = jax.config.jax_default_prng_impl  # type: ignore[attr-defined]
    offset = jax.config.jax_random_seed_offset  # type: ignore[attr-defined]
    if algorithm == "threefry2x32" and not offset:
        return np.array([0, seed], np.uint32)  # as JAX's, without compiling a program
    return np.array(jax.random.key_data(jax.random.key(seed)))


def keys(key: Key[Array, ""]) -> Keys:
    """Return the keys of the streams of a run; `key` is consumed."""
    return Keys(*jax.random.split(key, 3))
