"""A player of four in a row who wins, blocks, and does not allow a win on top."""

import functools

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from jax_ttt.solver import reached_positions
from jax_ttt.solver.batches import SearchedPlayer
from jax_ttt.solver.reached_positions import Reach


def column_order(num_columns):
    """Return the columns by distance from the centre, the left one first."""
    middle = (num_columns - 1) / 2
    return sorted(range(num_columns), key=lambda column: (abs(column - middle), column))


def has_row(stones):
    """Return in which boards, `(B, H, W)` bool, four stones are in a row."""
    height, width = stones.shape[1:]
    has = jnp.zeros(len(stones), bool)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        rows, columns = height - 3 * down, width - 3 * abs(right)
        left = 3 if right < 0 else 0
        cells = [
            stones[:, n * down : n * down + rows, left + n * right :][:, :, :columns]
            for n in range(4)
        ]
        has |= functools.reduce(jnp.logical_and, cells).any(axis=(1, 2))
    return has


def rule_moves(key, env_state):
    """Return the column with the highest score in each board.

    A win scores 1,000, a block 100, a move after which the opponent can win on top of
    it -50, minus the column's rank by distance from the centre.
    """
    del key
    mine, yours = env_state.observation[..., 0], env_state.observation[..., 1]
    height, width = mine.shape[1:]
    ranks = np.argsort(column_order(width))
    # The stones after each move, `(B, A, H, W)`.
    rows = np.arange(height)[None, None, :, None]
    is_column = np.eye(width, dtype=bool)[None, :, None]
    row = (height - 1 - (mine | yours).sum(axis=1))[:, :, None, None]
    cell, above = ((rows == place) & is_column for place in (row, row - 1))
    own_stones, blocked, on_top = (
        mine[:, None] | cell,
        yours[:, None] | cell,
        yours[:, None] | above,
    )
    boards = jnp.stack([own_stones, blocked, on_top]).reshape(-1, height, width)
    win, block, loss = has_row(boards).reshape(3, -1, width)
    scores = 1000 * win + 100 * block - 50 * loss - ranks[None]
    legal = env_state.legal_action_mask
    return jnp.where(legal, scores, -(10**6)).argmax(axis=1).astype(jnp.int32)


RULE = Partial(rule_moves)


def reached(env_id, player, seat, most=10**9, merged=False, batch=2048, **options):
    """Return all that a player reaches, with at most so many positions."""
    search = Reach(
        SearchedPlayer(
            env_id=env_id,
            choose=player,
            seat=seat,
            merge_symmetric=merged,
            batch=batch,
            **options,
        )
    )
    reached_positions.follow_all_lines(search, most)
    return search
