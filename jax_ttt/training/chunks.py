"""How many updates one call of the compiled program does."""

import math

from jax_ttt.config.architecture import PATCH_SIDE
from jax_ttt.config.catalogue import GAMES
from jax_ttt.config.settings import Config

CHUNK = 50
"""Most updates in one call of the compiled program; the host runs between calls."""
_CHUNK_WORK = 4e11
"""Most floating-point operations of one call: a second or two on a processor, since a
signal is answered between calls."""


def lengths(config: Config) -> set[int]:
    """Return all lengths that `length` returns during a run."""
    every, end = config.evaluation.eval_every, config.run.num_updates
    spans = {min(every, end), end % every}  # between evaluations
    most = longest_chunk(config)
    return ({most for n in spans if n >= most} | {n % most for n in spans}) - {0}


def length(config: Config, update: int) -> int:
    """Return the number of updates of the next chunk."""
    to_evaluation = config.evaluation.eval_every - update % config.evaluation.eval_every
    most = longest_chunk(config)
    return min(most, to_evaluation, config.run.num_updates - update)


def longest_chunk(config: Config) -> int:
    """Return the most updates in one call: fewer than `CHUNK` if an update is large."""
    replay = config.replay
    rows = config.run.num_envs + replay.replay_batch * bool(replay.replay_capacity)
    # Two operations a product; the backward pass has twice as many as the forward one.
    work = 6 * _products(config) * rows
    return int(min(max(_CHUNK_WORK // max(work, 1), 1), CHUNK))


def _products(config: Config) -> int:
    """Return about how many products of weights and inputs a board takes."""
    sides, sizes = GAMES[config.env_id].shape, config.network.hidden_sizes
    patches = math.prod(max(side - PATCH_SIDE + 1, 1) for side in sides)
    convolved = config.network.filters * patches
    pairs = zip((convolved or 64, *sizes), sizes, strict=False)
    return 2 * PATCH_SIDE**2 * convolved + sum(map(math.prod, pairs))
