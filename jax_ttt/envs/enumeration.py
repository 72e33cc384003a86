"""Enumeration of a small game's tree by stepping PGX. Contains no rules of a game.

Axes: `B` moves, `P` positions, `A` actions.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
import pgx
from jaxtyping import Array, Int

from jax_ttt.envs import pgx_games, stones, symmetry
from jax_ttt.envs.symmetry import Views
from jax_ttt.runtime import compiling
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
    start = _first_state(env)
    first = int(start.current_player[0])
    level = jax.tree.map(np.asarray, start)
    step = _compiled_step(env, level)
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


def _first_state(env: pgx.Env) -> pgx.State:
    """Return one game before its first move, by a program that compiles fast."""
    key = jax.random.key(0)
    program = jax.jit(lambda key: pgx_games.init(env, key, 1)).lower(key)
    return compiling.compiled(program, "least")(key)


def _compiled_step(env: pgx.Env, env_state: pgx.State) -> Callable:
    """Return the compiled program that plays a batch of moves in such states."""

    def step(env_state: pgx.State, action: Int[Array, " B"]) -> pgx.State:
        return pgx_games.step(env, env_state, action, 1.0)[0]

    batch = jax.tree.map(lambda x: np.repeat(x[:1], _BATCH, axis=0), env_state)
    program = jax.jit(step).lower(batch, np.zeros(_BATCH, np.int32))
    return compiling.compiled(program, "least")


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
    _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return jax.tree.map(lambda x: x[first], env_state), index.reshape(-1)


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
