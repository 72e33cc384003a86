"""The whole tree of a small game, enumerated by playing every move in PGX.

The positions are sorted by level, so a position's successors come after it. The first
player makes the first move ("X"). Outcomes are the first player's.

Axes: `P` positions, `A` actions, `D` decisions (positions with a move to choose), `L`
levels (moves played), `B` moves.
"""

import dataclasses
import functools
from types import ModuleType
from typing import Generic

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Int

from jax_ttt.config.game_facts import GAMES, EnvId, Seat
from jax_ttt.games import pgx_games, stone_boards, symmetry
from jax_ttt.games.symmetry import Classes, LeafT, Views
from jax_ttt.runtime.compiling import Program

MAX_POSITIONS = 100_000
"""Most positions of an enumerated game."""
_BATCH = 2048
"""Moves played at once. Every batch has this size, so one program serves all levels."""


def array_module(array: object) -> ModuleType:
    """Return the module of an array's functions: `numpy` or `jax.numpy`."""
    return np if isinstance(array, np.ndarray) else jnp


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "env_state",
        "legal_action_mask",
        "successor",
        "first_to_move",
        "terminal",
        "outcome",
        "decisions",
        "representative",
        "classes",
    ],
    meta_fields=["level_start"],
)
@dataclasses.dataclass(frozen=True)
class Tree(Generic[LeafT]):
    """Every reachable position of a game, with its moves.

    It is a pytree: pass it to compiled functions as an argument. As a constant of the
    program, it would make compilation slow.
    """

    env_state: pgx.State  # (P, ...)
    legal_action_mask: LeafT  # (P, A) bool; all False if the game is over
    successor: LeafT  # (P, A) int32 position after the move; unused 0 if illegal
    first_to_move: LeafT  # (P,) bool
    terminal: LeafT  # (P,) bool
    # (P,) int32: -1 if the first player lost, 1 if it won, 0 if it drew or the game
    # goes on.
    outcome: LeafT
    decisions: LeafT  # (D,) int32 positions with a move to choose, ascending
    representative: LeafT  # (P,) int32 first position with the same canonical board
    classes: Classes[LeafT] | None  # of the decisions; None without listed symmetries
    level_start: tuple[int, ...]  # (L + 1,) each level's first position, then P

    @property
    def obs(self) -> LeafT:
        """The observations of the player to move, `(P, ...)`."""
        return self.env_state.observation

    @property
    def num_positions(self) -> int:
        """The number of positions, including those where the game is over."""
        return self.level_start[-1]

    def to_move(self, position: int) -> Seat:
        """Return the seat to move in a position."""
        return "first" if np.asarray(self.first_to_move)[position] else "second"

    def turns_of(self, seat: Seat) -> LeafT:
        """Return the positions in which this seat is to move, `(P,)` bool."""
        xp = array_module(self.first_to_move)
        return xp.equal(self.first_to_move, seat == "first")

    def lost_by(self, seat: Seat) -> LeafT:
        """Return the positions in which this seat has lost, `(P,)` bool."""
        xp = array_module(self.outcome)
        return xp.equal(self.outcome, -1 if seat == "first" else 1)


def game_tree(env_id: EnvId) -> Tree[jax.Array] | None:
    """Return the game's tree of JAX arrays; None if the game is too large.

    Each call copies the host's tree to the device.
    """
    return jax.device_put(host_tree(env_id))  # None, a pytree without arrays, stays


@functools.cache
def host_tree(env_id: EnvId) -> Tree[np.ndarray] | None:
    """Return the game's tree of NumPy arrays; None if the game is too large.

    Use it for computations in float64 and for loops in Python.
    """
    if not GAMES[env_id].enumerable:
        return None
    env = pgx_games.make_env(env_id)
    return enumerate_positions(env, MAX_POSITIONS, symmetry.symmetric_views(env_id))


def enumerated(env_id: EnvId) -> Tree[np.ndarray]:
    """Return the game's tree of NumPy arrays, as `host_tree` does, but never None.

    Raises:
        ValueError: the game is too large to enumerate.
    """
    tree = host_tree(env_id)
    if tree is None:
        raise ValueError(f"{env_id} is too large to enumerate")
    return tree


def enumerate_positions(
    env: pgx.Env, max_positions: int, views: Views | None
) -> Tree[np.ndarray]:
    """Return the tree of NumPy arrays, found by playing every line from the start.

    The game must have two players, no chance moves and no hidden information. States
    that are equal, byte for byte, are one position.

    Raises:
        ValueError: there are more than `max_positions` positions.
    """
    start = jax.device_get(_init(env))
    first_player = start.current_player
    level = jax.tree_util.tree_map(lambda x: x[None], start)
    levels, level_start, moves = [], [0], []
    while True:
        levels.append(level)
        begin, end = level_start[-1], level_start[-1] + len(level.terminated)
        level_start.append(end)
        if end > max_positions:
            raise ValueError(
                f"{env.id} has more than {max_positions:,} positions: too many"
            )
        over = level.terminated | level.truncated
        parent, action = np.nonzero(level.legal_action_mask & ~over[:, None])
        if not len(action):
            break
        level, child = _remove_duplicates(_play(env, level, parent, action))
        # `parent` and `child` are rows of their levels; the tree numbers all positions.
        moves.append((begin + parent, action, end + child))
    env_state = jax.tree_util.tree_map(lambda *leaves: np.concatenate(leaves), *levels)
    parent, action, child = (np.concatenate(part) for part in zip(*moves, strict=True))
    successor = np.zeros(env_state.legal_action_mask.shape, np.int32)
    successor[parent, action] = child
    terminal = env_state.terminated | env_state.truncated
    outcome = np.sign(np.where(terminal, env_state.rewards[:, first_player], 0))
    decisions = np.flatnonzero(~terminal).astype(np.int32)
    representative, classes = np.arange(len(terminal), dtype=np.int32), None
    if views is not None:
        cells = stone_boards.cells_on_host(env_state.observation)
        representative, classes = symmetry.symmetry_classes(
            cells, level_start, decisions, views
        )
    return Tree(
        env_state=env_state,
        legal_action_mask=env_state.legal_action_mask & ~terminal[:, None],
        successor=successor,
        first_to_move=env_state.current_player == first_player,
        terminal=terminal,
        outcome=outcome.astype(np.int32),
        decisions=decisions,
        representative=representative,
        classes=classes,
        level_start=tuple(level_start),
    )


def _new_game(env: pgx.Env) -> pgx.State:
    """Return one game before its first move."""
    return env.init(jax.random.key(0))


def _step_games(
    env: pgx.Env, env_state: pgx.State, action: Int[Array, " B"]
) -> pgx.State:
    """Return the games after one move in each."""
    return jax.vmap(env.step)(env_state, action)


# They run for a fraction of a second, so they are compiled with few optimizations.
_init = Program(_new_game, static_argnames=["env"], level="0")
_step = Program(_step_games, static_argnames=["env"], level="0")


def _play(
    env: pgx.Env,
    env_state: pgx.State,
    parent: Int[np.ndarray, " B"],
    action: Int[np.ndarray, " B"],
) -> pgx.State:
    """Return the states after each `action` in the state `parent`, a row number."""
    num_moves = len(action)
    parts = []
    for begin in range(0, num_moves, _BATCH):
        batch = np.arange(begin, begin + _BATCH).clip(max=num_moves - 1)
        before = jax.tree_util.tree_map(
            lambda x, rows=parent[batch]: x[rows], env_state
        )
        after = _step(env, before, jnp.asarray(action[batch], jnp.int32))
        parts.append(jax.device_get(after))
    return jax.tree_util.tree_map(
        lambda *leaves: np.concatenate(leaves)[:num_moves], *parts
    )


def _remove_duplicates(
    env_state: pgx.State,
) -> tuple[pgx.State, Int[np.ndarray, " B"]]:
    """Return the states without duplicates, and the row of each given state in them."""
    leaves = [
        np.ascontiguousarray(leaf).reshape(len(leaf), -1).view(np.uint8)
        for leaf in jax.tree_util.tree_leaves(env_state)
    ]
    rows = np.concatenate(leaves, axis=1)
    # Viewed as one raw value a row, the rows are sorted 20 times as fast as rows of
    # numbers.
    states = rows.view((np.void, rows.shape[1]))[:, 0]
    _, first, index = np.unique(states, return_index=True, return_inverse=True)
    return jax.tree_util.tree_map(lambda x: x[first], env_state), index
