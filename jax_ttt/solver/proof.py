"""The proof that a policy never loses, and the lines of play that can occur.

Axes: `P` positions, `A` actions, `S` seats.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from jax_ttt.config.game_facts import SEATS
from jax_ttt.games.symmetry import ArrayT
from jax_ttt.games.tree import Seat, Tree, array_module
from jax_ttt.grading.grade import Lines
from jax_ttt.solver.backward import backward

Line = tuple[int, ...]
"""The actions of a game from its first position."""


def beaten(tree: Tree[ArrayT], probs: Float[ArrayT, "P A"]) -> Bool[ArrayT, " S"]:
    """Return for both seats whether some line of play by an opponent beats the policy.

    The function follows every move that the policy plays with a probability above 0,
    and every legal move of the opponent. In games that are not enumerable,
    `reach.follow` searches what the player reaches.
    """
    xp = array_module(probs)
    every = [playable(tree, probs, seat) for seat in SEATS]
    lost = [tree.lost_by(seat) for seat in SEATS]
    moves = xp.stack(every, axis=-1).astype(np.float32)  # (P, A, S)

    def can_lose(here: slice, after: ArrayT) -> ArrayT:
        # Each seat's number is on the diagonal of a matrix product. On a CPU, XLA
        # computes it faster than `any` of bools, and with JAX 0.7 than a maximum. It
        # is cut to 1, since numbers that grow from level to level could overflow.
        num_losing = xp.einsum("was,wat->wst", moves[here], after)
        return xp.minimum(num_losing.diagonal(axis1=1, axis2=2), 1)

    values = backward(tree, xp.stack(lost, axis=-1).astype(np.float32), can_lose)
    return xp.asarray(values[0] != 0)


def playable(
    tree: Tree[ArrayT], probs: Float[ArrayT, "P A"], seat: Seat
) -> Bool[ArrayT, "P A"]:
    """Return the moves that the policy in this seat, or any opponent, may play.

    A probability that is NaN counts as above 0.
    """
    others = ~tree.moves_of(seat)[:, None]
    return tree.legal_action_mask & (others | _not_zero(probs))


def _not_zero(x: Float[ArrayT, "P A"]) -> Bool[ArrayT, "P A"]:
    if isinstance(x, np.ndarray):
        return x != 0
    # XLA treats subnormal float32 numbers as 0, so compare all bits except the sign.
    return jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32) << 1 != 0


def reachable(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Bool[np.ndarray, " P"]:
    """Return the positions that can occur when the policy plays in this seat."""
    moves = playable(tree, probs, seat)
    reached = np.zeros(tree.num_positions, bool)
    reached[0] = True
    for begin, end in itertools.pairwise(tree.level_start):
        here = reached[begin:end, None] & moves[begin:end]
        reached[tree.successor[begin:end][here]] = True
    return reached


def decided(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Bool[np.ndarray, " P"]:
    """Return the reachable positions in which the policy in this seat has to move."""
    return reachable(tree, probs, seat) & tree.moves_of(seat) & ~tree.terminal


def lines(tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat) -> Lines:
    """Count the lines of play of the policy in this seat against any opponent."""
    moves = playable(tree, probs, seat)
    result = tree.outcome if seat == "first" else -tree.outcome
    leaves = np.stack([result == end for end in (1, 0, -1)], axis=1).astype(float)
    counts = backward(
        tree, leaves, lambda here, after: (moves[here][..., None] * after).sum(axis=1)
    )
    won, drawn, lost = (int(count) for count in counts[0])
    return Lines(won=won, drawn=drawn, lost=lost)


def losing_line(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Line | None:
    """Return the shortest game that the policy can lose, or None if there is none.

    The search goes forward, level by level, over the playable moves. The line ends
    with the opponent's winning move.
    """
    moves = playable(tree, probs, seat)
    lost = tree.lost_by(seat)
    came_from = {0: (-1, -1)}
    for begin, end in itertools.pairwise(tree.level_start):
        here = [p for p in range(begin, end) if p in came_from]
        for position in here:
            if lost[position]:
                return _line_to(position, came_from)
        for position in here:
            for action in np.flatnonzero(moves[position]):
                after = int(tree.successor[position, action])
                came_from.setdefault(after, (position, int(action)))
    return None


def self_play_line(tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"]) -> Line:
    """Return the policy's game against itself, with its most probable moves."""
    position, line = 0, []
    while not tree.terminal[position]:
        line.append(int(probs[position].argmax()))
        position = int(tree.successor[position, line[-1]])
    return tuple(line)


def _line_to(position: int, came_from: dict[int, tuple[int, int]]) -> Line:
    line = []
    while position:
        position, action = came_from[position]
        line.append(action)
    return tuple(line[::-1])
