"""Enumeration of a small game's tree by stepping PGX. Contains no rules of a game.

Axes: `B` moves, `P` positions, `A` actions.
"""

import functools
import itertools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import jax
import numpy as np
import pgx
from jaxtyping import Array, Int

from jax_ttt.envs import pgx_games, stones, symmetry
from jax_ttt.envs.symmetry import Views
from jax_ttt.runtime.named_arrays import Named

_BATCH = 2048  # moves per batch: one compiled program for all levels


class Found(NamedTuple):
    """All positions of a game as NumPy arrays."""

    fields: Named  # the fields of `tree.Tree` by name
    env_state: pgx.State  # (P, ...)


def find_positions(env: pgx.Env, max_positions: int, views: Views | None) -> Found:
    """Enumerate all positions by playing every line from the first position.

    The game must have two players, no chance moves and no hidden information.

    Raises:
        ValueError: there are more than `max_positions` positions.
    """
    compiled = compile_programs(env)
    compile_programs.cache_clear()  # they are used once
    level = jax.device_get(compiled.start.result()())
    first = int(level.current_player[0])
    step = compiled.step.result()
    levels, moves, count = [], [], 0
    while True:
        levels.append(level)
        over = level.terminated | level.truncated
        begin, count = count, count + len(over)
        if count > max_positions:
            raise ValueError(
                f"{env.id} has more than {max_positions:,} positions: too many"
            )
        parent, action = np.nonzero(level.legal_action_mask & ~over[:, None])
        if not len(action):
            break
        after = _play(step, jax.tree.map(lambda x, p=parent: x[p], level), action)
        level, index = _distinct(after)
        moves.append((begin + parent, action, count + index))
    return _assemble(levels, moves, first, views)


class Compiling(NamedTuple):
    """The programs under compilation, with their arguments and results."""

    start: Future[jax.stages.Compiled]  # () -> one game before its first move
    step: Future[jax.stages.Compiled]  # env_state, action -> env_state; B moves


@functools.cache
def compile_programs(env: pgx.Env) -> Compiling:
    """Start to compile what `find_positions` runs; return before compilation ends."""

    def step(env_state: pgx.State, action: Int[Array, " B"]) -> pgx.State:
        return pgx_games.step(env, env_state, action, 1.0)[0]

    start = jax.jit(lambda: pgx_games.init(env, jax.random.key(0), 1)).lower()
    batch = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct((_BATCH, *x.shape[1:]), x.dtype), start.out_info
    )
    moves = jax.jit(step).lower(batch, jax.ShapeDtypeStruct((_BATCH,), np.int32))
    pool = ThreadPoolExecutor()
    found = (pool.submit(one.compile) for one in (start, moves))
    return Compiling(*found)


def _play(step: Callable, env_state: pgx.State, action: np.ndarray) -> pgx.State:
    """Play `action` in each state, in batches of equal size."""
    parts = []
    for begin in range(0, len(action), _BATCH):
        rows = np.arange(begin, begin + _BATCH).clip(max=len(action) - 1)
        batch = jax.tree.map(lambda x, r=rows: x[r], env_state)
        after = step(batch, action[rows].astype(np.int32))
        kept = min(_BATCH, len(action) - begin)
        parts.append(jax.tree.map(lambda x, k=kept: np.asarray(x)[:k], after))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


def _distinct(env_state: pgx.State) -> tuple[pgx.State, np.ndarray]:
    """Return the states without duplicates, and the index of each given state there."""
    leaves = [
        np.ascontiguousarray(leaf).reshape(len(leaf), -1).view(np.uint8)
        for leaf in jax.tree.leaves(env_state)
    ]
    rows = np.concatenate(leaves, axis=1)
    # Bytes are sorted 20 times as fast as rows of numbers.
    whole = rows.view((np.void, rows.shape[1]))[:, 0]
    _, first, index = np.unique(whole, return_index=True, return_inverse=True)
    return jax.tree.map(lambda x: x[first], env_state), index


def _assemble(
    levels: list[pgx.State],
    moves: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
    first: int,
    views: Views | None,
) -> Found:
    env_state = jax.tree.map(lambda *leaves: np.concatenate(leaves), *levels)
    parent, action, child = (np.concatenate(part) for part in zip(*moves, strict=True))
    terminal = env_state.terminated | env_state.truncated
    successor = np.zeros(env_state.legal_action_mask.shape, np.int32)
    successor[parent, action] = child
    outcome = np.sign(np.where(terminal, env_state.rewards[:, first], 0))
    fields = {
        "obs": env_state.observation,
        "legal_action_mask": env_state.legal_action_mask & ~terminal[:, None],
        "successor": successor,
        "first_to_move": env_state.current_player == first,
        "terminal": terminal,
        "outcome": outcome.astype(np.int32),
        "decisions": np.flatnonzero(~terminal).astype(np.int32),
        "classes": None,
    }
    sizes = (len(level.terminated) for level in levels)
    level_start = tuple(itertools.accumulate(sizes, initial=0))
    fields["level_start"] = level_start
    if views is not None:
        cells = stones.cells_on_host(env_state.observation)
        found = symmetry.find_first_views(cells, level_start, views)
        fields["classes"] = symmetry.classes(fields["decisions"], *found, views)
    return Found(fields, env_state)
