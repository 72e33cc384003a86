"""The proof that a policy never loses, and the lines of play that can occur.

In an enumerated game a policy is a matrix of move probabilities, `probs[P, A]`. It is
unbeatable in a seat if no line of play loses: a line in which it plays moves of a
probability above 0, and its opponent any legal moves. Where the tree is too large,
`reached_positions.follow_all_lines` searches the positions that the player reaches.

Axes: `P` positions, `A` actions, `S` seats, `W` positions of a level.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from jax_ttt.config.game_facts import SEATS
from jax_ttt.games.symmetry import ArrayT
from jax_ttt.games.tree import Seat, Tree, array_module
from jax_ttt.solver.backward_pass import backward

Line = tuple[int, ...]
"""The actions of a game from its first position."""


def beaten(tree: Tree[ArrayT], probs: Float[ArrayT, "P A"]) -> Bool[ArrayT, " S"]:
    """Return for both seats whether some line of play by an opponent beats the policy.

    From the last level back: a position can be lost if it is lost, or if a playable
    move leads to one that can be lost. The first position's value is the result.
    """
    xp = array_module(probs)
    moves = xp.stack([playable(tree, probs, seat) for seat in SEATS], axis=-1)
    lost = xp.stack([tree.lost_by(seat) for seat in SEATS], axis=-1)
    moves, lost = moves.astype(np.float32), lost.astype(np.float32)  # (P, A, S), (P, S)

    def can_lose(here: slice, after: ArrayT) -> ArrayT:
        """Return whether each position of a level can be lost, `(W, S)`: 0 or 1."""
        # The number of losing moves is the sum over the actions. A matrix product of
        # both seats has it on the diagonal. On a CPU, XLA computes the product faster
        # than `any` of bools. At most 1 is kept, since the numbers of losing lines grow
        # from level to level and could overflow.
        num_losing = xp.einsum("was,wat->wst", moves[here], after)
        return xp.minimum(num_losing.diagonal(axis1=1, axis2=2), 1)

    values = backward(tree, lost, can_lose)
    return xp.asarray(values[0] != 0)


def playable(
    tree: Tree[ArrayT], probs: Float[ArrayT, "P A"], seat: Seat
) -> Bool[ArrayT, "P A"]:
    """Return the moves that the policy in this seat, or any opponent, may play.

    A probability that is NaN counts as above 0.
    """
    opponent_moves = ~tree.moves_of(seat)[:, None]
    return tree.legal_action_mask & (opponent_moves | _not_zero(probs))


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


def own_decisions(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Bool[np.ndarray, " P"]:
    """Return the reachable positions in which the policy in this seat has to move."""
    return reachable(tree, probs, seat) & tree.moves_of(seat) & ~tree.terminal


def losing_line(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Line | None:
    """Return the shortest game that the policy can lose, or None if there is none.

    The search goes forward, level by level, over the playable moves, so the first lost
    position is one of the shortest games. The line ends with the opponent's winning
    move.
    """
    moves = playable(tree, probs, seat)
    lost = tree.lost_by(seat)
    came_from = {0: (-1, -1)}  # for each reached position, the one before and the move
    for begin, end in itertools.pairwise(tree.level_start):
        reached = [position for position in range(begin, end) if position in came_from]
        for position in reached:
            if lost[position]:
                return _line_to(position, came_from)
        for position in reached:
            for action in np.flatnonzero(moves[position]):
                after = int(tree.successor[position, action])
                came_from.setdefault(after, (position, int(action)))
    return None


def _line_to(position: int, came_from: dict[int, tuple[int, int]]) -> Line:
    """Return the actions that lead from the first position to this one."""
    line = []
    while position:
        position, action = came_from[position]
        line.append(action)
    return tuple(line[::-1])


def self_play_line(tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"]) -> Line:
    """Return the policy's game against itself, with its most probable moves."""
    position, line = 0, []
    while not tree.terminal[position]:
        line.append(int(probs[position].argmax()))
        position = int(tree.successor[position, line[-1]])
    return tuple(line)
