"""How many updates one call of the compiled program does."""

import math

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
    network, replay = config.network, config.replay
    sizes = network.hidden_sizes
    convolved = network.filters * math.prod(
        max(side - 3, 1) for side in GAMES[config.env_id].shape
    )
    inputs = (convolved or 64, *sizes)
    weights = 32 * convolved + sum(map(math.prod, zip(inputs, sizes, strict=False)))
    rows = config.run.num_envs + replay.replay_batch * bool(replay.replay_capacity)
    # Six operations per use of a weight and row: forward, and twice as many backward.
    work = 6 * weights * rows
    return int(min(max(_CHUNK_WORK // max(work, 1), 1), CHUNK))
