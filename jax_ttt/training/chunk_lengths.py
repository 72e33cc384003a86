"""How many updates a chunk has: the updates in one call of a run's compiled program."""

import math

from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import PATCH_SIDE, Config

CHUNK = 50
"""Most updates in one call of the compiled program.

The host writes a row of metrics and answers signals between calls.
"""
_CHUNK_WORK = 4e11
"""Most floating-point operations of one call: one or two seconds on a CPU, so that a
signal is answered soon."""
_LONG_RUN = 1_000_000
"""Moves of a run above which fully optimized programs save more time than their
compilation takes: some seconds of training."""


def all_chunk_lengths(config: Config) -> list[int]:
    """Return each length that a chunk of the run has, the longest first."""
    every, end = config.evaluation.eval_every, config.run.num_updates
    spans = {min(every, end), end % every}  # updates between two evaluations
    longest = longest_chunk(config)
    # A span has full chunks, and one of what is left: with 120 updates and chunks of
    # 50 at most, the lengths are 50 and 20.
    lengths = {longest for n in spans if n >= longest} | {n % longest for n in spans}
    return sorted(lengths - {0}, reverse=True)


def next_chunk_length(config: Config, update: int) -> int:
    """Return the number of updates of the chunk that begins after `update` updates."""
    to_evaluation = config.evaluation.eval_every - update % config.evaluation.eval_every
    return min(longest_chunk(config), to_evaluation, config.run.num_updates - update)


def longest_chunk(config: Config) -> int:
    """Return the most updates in one call: fewer than `CHUNK` if an update is large."""
    replay = config.replay
    rows = config.run.num_envs + replay.replay_batch * bool(replay.replay_capacity)
    # Two operations a product; the backward pass has twice as many as the forward one.
    work = 6 * _products_per_board(config) * rows
    return int(min(max(_CHUNK_WORK // max(work, 1), 1), CHUNK))


def _products_per_board(config: Config) -> int:
    """Return about how many products of a weight and an input a board takes."""
    sides, sizes = GAMES[config.env_id].shape, config.network.hidden_sizes
    patches = math.prod(max(side - PATCH_SIDE + 1, 1) for side in sides)
    convolved = config.network.filters * patches
    pairs = zip((convolved or 64, *sizes), sizes, strict=False)
    return 2 * PATCH_SIDE**2 * convolved + sum(map(math.prod, pairs))


def is_short_run(config: Config) -> bool:
    """Return whether a run is so short that its programs are compiled quickly.

    Optimizing them fully would take longer than it saves.
    """
    return config.run.num_updates * config.run.num_envs <= _LONG_RUN
