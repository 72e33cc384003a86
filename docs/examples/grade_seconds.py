"""Time grades of a network of your own, in JAX and in NumPy, while its weights change.

python docs/examples/grade_seconds.py
python docs/examples/grade_seconds.py 5    (grades, at least 3, by default 12)
"""

import itertools
import statistics
import sys
import time

import jax.numpy as jnp
import numpy as np

import jax_ttt

SIZES = {"tic_tac_toe": (18, 128, 128, 9), "connect_4x4": (32, 128, 128, 4)}


def scores(xp, weights, state):
    """Return the scores of the moves, (B, A); `xp` is jax.numpy or numpy."""
    hidden = xp.asarray(state.observation).reshape(len(state.terminated), -1)
    for number, matrix in enumerate(weights):
        hidden = (hidden if number == 0 else xp.maximum(hidden, 0)) @ matrix
    return xp.where(xp.asarray(state.legal_action_mask), hidden, -np.inf)


def seconds(xp, env_id, seed):
    """Return how long a grade takes of a network with random weights."""
    rng, sizes = np.random.default_rng(seed), SIZES[env_id]
    weights = [
        rng.normal(size=size).astype(np.float32) / size[0] ** 0.5
        for size in itertools.pairwise(sizes)
    ]
    weights = [xp.asarray(matrix) for matrix in weights]
    begin = time.perf_counter()
    jax_ttt.grade(lambda state: scores(xp, weights, state).argmax(-1), env_id=env_id)
    return time.perf_counter() - begin


if __name__ == "__main__":
    num_grades = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    for xp in (jnp, np):
        for env_id in SIZES:
            times = [seconds(xp, env_id, seed) for seed in range(num_grades)]
            median = statistics.median(times[2:])
            print(f"{xp.__name__}, {env_id}: {median:.3f} s", flush=True)
