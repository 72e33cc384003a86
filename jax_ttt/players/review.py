"""The moves of a game beside best play, as data: no text."""

from typing import NamedTuple

import jax.numpy as jnp

from jax_ttt.config.catalogue import Seat
from jax_ttt.games import positions, stones
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game
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


def review_moves(game: Game) -> tuple[ReviewedMove, ...] | None:
    """Return each move of a game beside best play; None if it is not enumerable."""
    tree = trees.host_tree(game.env_id)
    if tree is None:
        return None
    values = minimax.values(tree)
    worth, best = minimax.to_mover(tree, values), minimax.best_moves(tree, values)
    index, reviewed = jnp.asarray(positions.index(game.env_id)), []
    for move, state in zip(game.moves, game.states[:-1], strict=True):
        position = int(stones.locate(index, state.observation)[0])
        reviewed.append(
            ReviewedMove(
                mover=tree.to_move(position),
                move=move,
                position=position,
                value_before=float(worth[position].max()),
                value_after=float(worth[position, move]),
                best_moves=tuple(best[position].nonzero()[0].tolist()),
            )
        )
    return tuple(reviewed)
