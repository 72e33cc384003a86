"""The moves of a game beside best play, as data: no text. NumPy alone."""

from collections.abc import Sequence
from typing import NamedTuple

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.errors import MoveError
from jax_ttt.games import tree as trees
from jax_ttt.solver import minimax


class ReviewedMove(NamedTuple):
    """A move beside best play. Values are to its mover: -1 loss, 0 draw, 1 win."""

    mover: Seat
    move: int
    position: int  # before the move, in the tree
    value_before: float  # of the position under best play
    value_after: float  # of the move, with best play after it
    best_moves: tuple[int, ...]  # those that keep the value, ascending

    @property
    def is_mistake(self) -> bool:
        """Whether the move made the result under best play worse for its mover."""
        return self.value_after < self.value_before


def review_moves(
    env_id: EnvId, moves: Sequence[int]
) -> tuple[ReviewedMove, ...] | None:
    """Return each move of a game beside best play; None if it is not enumerable.

    `moves` are those of both players from the first board on.

    Raises:
        MoveError: a move is not legal, or the game is already over.
    """
    tree = trees.host_tree(env_id)
    if tree is None:
        return None
    values = minimax.values(tree)
    worth, best = minimax.to_mover(tree, values), minimax.best_moves(tree, values)
    reviewed, position = [], 0
    for move in moves:
        legal = tree.legal_action_mask[position].nonzero()[0].tolist()
        if move not in legal:
            raise MoveError(f"{move} is not a legal move of {env_id}; legal: {legal}")
        reviewed.append(
            ReviewedMove(
                tree.to_move(position),
                move,
                position,
                float(worth[position].max()),
                float(worth[position, move]),
                tuple(best[position].nonzero()[0].tolist()),
            )
        )
        position = int(tree.successor[position, move])
    return tuple(reviewed)
