"""The whole tree of a small game, found by stepping PGX itself.

No rule of a game is written here. The positions stand level by level, so that a
position's successors come after it. The first player is the one who moves first
("X"); all outcomes are from the first player's view.

Axes: `P` positions, `A` actions, `L` levels (moves played).
"""

import dataclasses
import functools
import itertools
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import pgx

from jax_ttt.config.catalogue import GAMES, EnvId, Seat
from jax_ttt.envs import pgx_games, stones, symmetry
from jax_ttt.envs.symmetry import Classes, Views

AnyArray: TypeAlias = Any
"""JAX's or NumPy's; which one, a checker can't know."""

_BATCH = 2048  # moves stepped at once: one compiled program serves every level


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "obs",
        "legal_action_mask",
        "successor",
        "first_to_move",
        "terminal",
        "outcome",
        "decisions",
        "env_state",
        "classes",
    ],
    meta_fields=["level_start"],
)
@dataclasses.dataclass(frozen=True)
class Tree:
    """Every position that play can reach, with its moves.

    Its arrays are JAX's, or NumPy's on the host. A pytree: hand it to compiled
    functions as an argument, since as a constant it would be worked on while compiling.
    """

    obs: AnyArray  # (P, ...) the mover's observation
    legal_action_mask: AnyArray  # (P, A) bool; all False where the game is over
    successor: AnyArray  # (P, A) int32 position after the move; 0 where illegal
    first_to_move: AnyArray  # (P,) bool
    terminal: AnyArray  # (P,) bool
    outcome: AnyArray  # (P,) int32: the first player lost -1, tied 0, won 1; 0 inside
    decisions: AnyArray  # (D,) int32 positions with a move to choose, in order
    env_state: pgx.State  # (P, ...) the PGX states themselves
    classes: Classes | None  # of the positions to decide; None without views
    level_start: tuple[int, ...]  # L + 1 positions: a level ends where the next begins

    @property
    def num_positions(self) -> int:
        """The number of positions, finished ones included."""
        return self.level_start[-1]

    def to_move(self, position: int) -> Seat:
        """Return the seat whose turn it is in a position."""
        return "first" if self.first_to_move[position] else "second"

    def moves_of(self, seat: Seat) -> AnyArray:
        """Return where the player in this seat is to move, `(P,)` bool."""
        return self.first_to_move == (seat == "first")

    def lost_by(self, seat: Seat) -> AnyArray:
        """Return where the game is over and lost by this seat, `(P,)` bool."""
        return self.outcome == (-1 if seat == "first" else 1)


def enumerate_game(
    env: pgx.Env, max_positions: int = 100_000, views: Views | None = None
) -> Tree:
    """Walk every line of play from the first position and return the tree.

    Works for games of two players with no chance and no hidden information.

    Raises:
        ValueError: there are more than `max_positions` positions.
    """
    start = pgx_games.init(env, jax.random.key(0), 1)
    first = int(start.current_player[0])
    level = jax.tree.map(np.asarray, start)
    levels, moves, count = [], [], 0
    while True:
        levels.append(level)
        over = level.terminated | level.truncated
        begin, count = count, count + len(over)
        if count > max_positions:
            raise ValueError(
                f"{env.id} has more than {max_positions:,} positions: too many to walk"
            )
        parent, action = np.nonzero(level.legal_action_mask & ~over[:, None])
        if not len(action):
            break
        after = _play(env, jax.tree.map(lambda x, p=parent: x[p], level), action)
        level, index = _distinct(after)
        moves.append((begin + parent, action, count + index))
    return _assemble(levels, moves, first, views)


def _play(env: pgx.Env, env_state: pgx.State, action: np.ndarray) -> pgx.State:
    """Play `action` in each state, in batches of one size."""
    parts = []
    for begin in range(0, len(action), _BATCH):
        rows = np.arange(begin, begin + _BATCH).clip(max=len(action) - 1)
        batch = jax.tree.map(lambda x, r=rows: x[r], env_state)
        after, _ = _step(env, batch, jnp.asarray(action[rows], jnp.int32), 1.0)
        kept = min(_BATCH, len(action) - begin)
        parts.append(jax.tree.map(lambda x, k=kept: np.asarray(x)[:k], after))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


_step = functools.partial(jax.jit, static_argnames=("env", "gamma"))(pgx_games.step)


def _distinct(env_state: pgx.State) -> tuple[pgx.State, np.ndarray]:
    """Return the different states, and for each given one which of them it is."""
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
) -> Tree:
    env_state = jax.tree.map(lambda *leaves: np.concatenate(leaves), *levels)
    parent, action, child = (np.concatenate(part) for part in zip(*moves, strict=True))
    terminal = env_state.terminated | env_state.truncated
    successor = np.zeros(env_state.legal_action_mask.shape, np.int32)
    successor[parent, action] = child
    outcome = np.sign(np.where(terminal, env_state.rewards[:, first], 0))
    arrays = {
        "obs": env_state.observation,
        "legal_action_mask": env_state.legal_action_mask & ~terminal[:, None],
        "successor": successor,
        "first_to_move": env_state.current_player == first,
        "terminal": terminal,
        "outcome": outcome.astype(np.int32),
        "decisions": np.flatnonzero(~terminal).astype(np.int32),
        "env_state": env_state,
        "classes": None,
    }
    sizes = (len(level.terminated) for level in levels)
    level_start = tuple(itertools.accumulate(sizes, initial=0))
    if views is not None:
        cells = stones.cells_on_host(env_state.observation)
        found = symmetry.find_first_views(cells, level_start, views)
        arrays["classes"] = symmetry.classes(arrays["decisions"], *found, views)
    return Tree(**jax.device_put(arrays), level_start=level_start)


@functools.cache
def game_tree(env_id: EnvId) -> Tree | None:
    """Return the game's tree, enumerated once in a process; None if it is too large."""
    if not GAMES[env_id].enumerable:
        return None
    return enumerate_game(pgx_games.make_env(env_id), views=symmetry.views(env_id))


@functools.cache
def host_tree(env_id: EnvId) -> Tree | None:
    """Return the same tree of NumPy arrays, for float64 and for walks in Python."""
    tree = game_tree(env_id)
    return None if tree is None else jax.device_get(tree)


def enumerated(env_id: EnvId) -> Tree:
    """Return the tree of NumPy arrays of a game that has one.

    Raises:
        ValueError: it has none.
    """
    tree = host_tree(env_id)
    if tree is None:
        raise ValueError(f"{env_id} is too large to walk")
    return tree
