"""The proof that a policy never loses, and the lines of play that can occur.

In an enumerated game a policy is a matrix of move probabilities, `probs[P, A]`. It is
unbeatable in a seat if no line of play loses: a line in which it plays moves whose
probability is not 0, and its opponent any legal moves. Where the tree is too large,
`reached_positions.follow_all_lines` searches the positions that the player reaches.

Axes: `P` positions, `A` actions, `S` seats, `W` positions of a level.
"""

import itertools
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.games.stone_boards import ArrayT, array_module
from jax_ttt.games.tree import Tree
from jax_ttt.solver.policies import backward, exact_einsum

Line = tuple[int, ...]
"""The actions of a game from its first position."""


def can_be_beaten(
    tree: Tree[ArrayT], probs: Float[ArrayT, "P A"]
) -> Bool[ArrayT, " S"]:
    """Return for both seats whether the policy loses in some line of play."""
    return array_module(probs).equal(worst_results(tree, probs), -1)


def worst_results(
    tree: Tree[ArrayT], probs: Float[ArrayT, "P A"]
) -> Float[ArrayT, " S"]:
    """Return for both seats the worst result of the policy in any line of play.

    It is 1 if the policy wins every line, 0 if it draws one and loses none, else -1.
    The pass goes from the last level to the first. A position's worst result is that of
    its playable moves. The result is the value of the first position.
    """
    xp = array_module(probs)
    # A line that is won counts 0, one that is drawn 1, and one that is lost more than
    # all drawn ones of a position. float32, since the pass below adds them.
    loss = np.float32(tree.successor.shape[1] + 1)
    moves = xp.stack(
        [playable(tree, probs, seat).astype(np.float32) for seat in SEATS], axis=-1
    )  # (P, A, S)
    ends = xp.stack(
        [
            xp.where(tree.lost_by(seat), loss, xp.equal(tree.outcome, 0))
            for seat in SEATS
        ],
        axis=-1,
    ).astype(np.float32)  # (P, S)

    def worst_after(here: slice, after: ArrayT) -> ArrayT:
        """Return each seat's worst result from a level's positions, `(W, S)`.

        `after` has the same for the successors, `(W, A, S)`.
        """
        # The sum over the moves by seat, `einsum("was,was->ws", moves, after)`. As a
        # matrix product, with the seats' sums on its diagonal, XLA computes it faster
        # on a CPU. (`t` is the seat axis too.)
        sums = exact_einsum("was,wat->wst", moves[here], after)
        sums = sums.diagonal(axis1=1, axis2=2)
        return xp.where(sums >= loss, loss, xp.minimum(sums, 1))

    worst = backward(tree, ends, worst_after)[0]
    return 1 - xp.minimum(worst, 2)


def playable(
    tree: Tree[ArrayT], probs: Float[ArrayT, "P A"], seat: Seat
) -> Bool[ArrayT, "P A"]:
    """Return the moves that the policy in this seat, or any opponent, may play.

    The policy may play a move whose probability is not 0; NaN is not 0.

    Raises:
        Refused: with NumPy arrays, the policy has no legal move in a position that it
            reaches, or an illegal one. No line would lose from there.
    """
    is_opponents_turn = ~tree.turns_of(seat)[:, None]
    moves = tree.legal_action_mask & (is_opponents_turn | _is_not_zero(probs))
    if isinstance(probs, np.ndarray):
        _check_own_moves(tree, probs, seat, moves)
    return moves


def _check_own_moves(
    tree: Tree[ArrayT],
    probs: Float[np.ndarray, "P A"],
    seat: Seat,
    moves: Bool[ArrayT, "P A"],
) -> None:
    """Raise `Refused` as `playable` does."""
    game, legal = cast(Tree[np.ndarray], tree), np.asarray(tree.legal_action_mask)
    own = _reached(game, np.asarray(moves)) & game.turns_of(seat) & ~game.terminal
    has_legal = (legal & (probs > 0)).any(axis=1)
    has_illegal = (~legal & (probs != 0)).any(axis=1)
    faults = np.flatnonzero(own & (has_illegal | ~has_legal))
    if len(faults):
        raise Refused(
            "the player has no legal move with a probability above 0, or an illegal "
            f"one, in position {faults[0]}"
        )


def _is_not_zero(x: Float[ArrayT, "P A"]) -> Bool[ArrayT, "P A"]:
    if isinstance(x, np.ndarray):
        return x != 0
    # XLA treats subnormal float32 numbers as 0, so compare all bits except the sign.
    bits = jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32)
    return (bits << 1) != 0


def reachable(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Bool[np.ndarray, " P"]:
    """Return the positions that can occur when the policy plays in this seat."""
    return _reached(tree, playable(tree, probs, seat))


def _reached(
    tree: Tree[np.ndarray], moves: Bool[np.ndarray, "P A"]
) -> Bool[np.ndarray, " P"]:
    reached = np.zeros(tree.num_positions, bool)
    reached[0] = True
    for begin, end in itertools.pairwise(tree.level_start):
        is_played = reached[begin:end, None] & moves[begin:end]
        reached[tree.successor[begin:end][is_played]] = True
    return reached


def own_decisions(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Bool[np.ndarray, " P"]:
    """Return the reachable positions in which the policy in this seat has to move."""
    return reachable(tree, probs, seat) & tree.turns_of(seat) & ~tree.terminal


def losing_line(
    tree: Tree[np.ndarray], probs: Float[np.ndarray, "P A"], seat: Seat
) -> Line | None:
    """Return a shortest game that the policy can lose, or None if there is none.

    The search goes forward, level by level, over the playable moves, so the first lost
    position that it finds ends a shortest game. The line's last move is the opponent's
    winning move.
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
