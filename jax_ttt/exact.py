"""Exact results over a game's tree: no sampling, no error bar.

A policy is a matrix `probs[P, A]`, each row the chances of the legal moves. Every
result is one pass from the last level of the tree to the first.

Axes: `P` positions, `A` actions, `C` values carried per position, `W` positions of
a level, `S` seats.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jax_ttt.tree import Tree

NodeValue = Callable[[slice, jax.Array], jax.Array]
"""A level's values `(W, C)` from its positions and their successors' `(W, A, C)`."""


class Outcome(NamedTuple):
    """Chances of one player's results; they add up to 1."""

    win_rate: jax.Array
    draw_rate: jax.Array
    loss_rate: jax.Array


class Seat(NamedTuple):
    """How a policy fares in one seat."""

    random: Outcome  # against an opponent who plays at random
    worst_loss_rate: jax.Array  # against the opponent who beats it most often


class Report(NamedTuple):
    """How a policy fares in both seats."""

    first: Seat
    second: Seat


def _backward(
    tree: Tree, leaf_values: Float[Array, "P C"], node_value: NodeValue
) -> Float[Array, "P C"]:
    """Return every position's value, from the last level of the tree to the first."""
    levels = list(itertools.pairwise(tree.level_start))
    values = [leaf_values[slice(*levels[-1])]]
    for begin, end in reversed(levels[:-1]):
        here = slice(begin, end)
        # Where the game is over there is no successor: any row will do.
        successor = (tree.successor[here] - end).clip(0)
        inner = node_value(here, values[-1][successor])
        over = tree.terminal[here, None]
        values.append(jnp.where(over, leaf_values[here], inner))
    return jnp.concatenate(values[::-1])


def uniform_policy(tree: Tree) -> Float[Array, "P A"]:
    """Return the player who plays every legal move with the same chance."""
    legal = tree.legal_action_mask
    return legal / legal.sum(axis=1, keepdims=True).clip(1)


def deterministic_policy(tree: Tree, action: Int[Array, " D"]) -> Float[Array, "P A"]:
    """Return the player of one legal action in each of the D positions to decide."""
    played = jnp.zeros(tree.num_positions, jnp.int32).at[tree.decisions].set(action)
    one_hot = jax.nn.one_hot(played, tree.legal_action_mask.shape[1])
    return jnp.where(tree.legal_action_mask, one_hot, 0.0)


def outcome(
    tree: Tree, first: Float[Array, "P A"], second: Float[Array, "P A"]
) -> Outcome:
    """Return the exact result of two policies, from the first player's view."""
    probs = jnp.where(tree.first_to_move[:, None], first, second)
    results = jnp.stack([tree.outcome == result for result in (1, 0, -1)], axis=1)
    values = _backward(
        tree,
        results.astype(jnp.float32),
        lambda here, after: (probs[here][..., None] * after).sum(axis=1),
    )
    return Outcome(*values[0])


def report(tree: Tree, probs: Float[Array, "P A"]) -> Report:
    """Return the policy's results in both seats, against random and the worst case.

    One pass for both seats (S): each position carries the chances that the policy
    wins, draws and loses to a random opponent, and how often it loses to the opponent
    who beats it most often. That last is 0 exactly when no line of play wins.
    """
    own = jnp.stack([tree.first_to_move, ~tree.first_to_move], axis=1)  # (P, S)
    result = jnp.stack([tree.outcome, -tree.outcome], axis=1)
    legal = tree.legal_action_mask
    chances = jnp.where(own[:, None], probs[..., None], uniform_policy(tree)[..., None])

    def node_value(here: slice, after: jax.Array) -> jax.Array:
        after = after.reshape(*after.shape[:2], 2, 4)
        mean = jnp.einsum("was,wasc->wsc", chances[here], after)
        worst = jnp.where(legal[here, :, None], after[..., 3], 0.0).max(axis=1)
        worst = jnp.where(own[here], mean[..., 3], worst)
        return jnp.concatenate([mean[..., :3], worst[..., None]], axis=-1).reshape(
            -1, 8
        )

    leaves = jnp.stack([result == 1, result == 0, result == -1, result == -1], axis=-1)
    values = _backward(tree, leaves.reshape(-1, 8).astype(jnp.float32), node_value)
    seats = (Seat(Outcome(*seat[:3]), seat[3]) for seat in values[0].reshape(2, 4))
    return Report(*seats)


@jax.jit
def minimax_values(tree: Tree) -> Float[Array, " P"]:
    """Return what each position is worth to the first player under best play."""
    first = tree.first_to_move
    legal = tree.legal_action_mask

    def node_value(here: slice, after: jax.Array) -> jax.Array:
        after = after[..., 0]
        best = jnp.where(legal[here], after, -jnp.inf).max(axis=1)
        worst = jnp.where(legal[here], after, jnp.inf).min(axis=1)
        return jnp.where(first[here], best, worst)[:, None]

    leaves = tree.outcome.astype(jnp.float32)[:, None]
    return _backward(tree, leaves, node_value)[:, 0]


def losing_line(
    tree: Tree, probs: Float[Array | np.ndarray, "P A"], as_first: bool
) -> list[tuple[int, int]] | None:
    """Return the shortest game that the policy can lose, or None if there is none.

    A forward walk over what the policy and any opponent can reach. The line is a list
    of (position, action), from the first position to the opponent's winning move.
    """
    others = np.asarray(tree.first_to_move)[:, None] != as_first
    playable = np.asarray(tree.legal_action_mask) & (others | (np.asarray(probs) > 0))
    successor = np.asarray(tree.successor)
    lost = np.asarray(tree.outcome) == (-1 if as_first else 1)
    came_from = {0: (-1, -1)}
    for begin, end in itertools.pairwise(tree.level_start):
        here = [p for p in range(begin, end) if p in came_from]
        for position in here:
            if lost[position]:
                return _line_to(position, came_from)
        for position in here:
            for action in np.flatnonzero(playable[position]):
                after = int(successor[position, action])
                came_from.setdefault(after, (position, int(action)))
    return None


def _line_to(
    position: int, came_from: dict[int, tuple[int, int]]
) -> list[tuple[int, int]]:
    line = []
    while position:
        position, action = came_from[position]
        line.append((position, action))
    return line[::-1]
