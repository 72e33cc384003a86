"""A game beside best play, and hints, as data: no text."""

from collections.abc import Sequence
from typing import NamedTuple

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.errors import MoveError
from jax_ttt.envs import tree as trees
from jax_ttt.players import session
from jax_ttt.players.agents import Agent
from jax_ttt.players.session import MoveValue, Session
from jax_ttt.solver import minimax

_QUICK = 0.9
"""Discount per move, so that a quick win is better than a slow one."""


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


class Hint(NamedTuple):
    """A move that a player to move may choose."""

    best: MoveValue
    as_good: tuple[int, ...]  # other moves of the same exact value, ascending


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


def suggest_move(game: Session, agent: Agent | None = None) -> Hint | None:
    """Return a hint for the player to move; None if no move has a value.

    In an enumerable game it keeps the exact value; of such moves, it is one that wins
    soonest or loses latest, then the one that the agent values most. Elsewhere the
    agent's values decide. The agent is by default the opponent's.
    """
    rows = session.move_values(game, agent)
    exact = [row.minimax_value for row in rows if row.minimax_value is not None]
    if not exact:
        valued = [row for row in rows if row.q_value is not None]
        best = max(valued, key=lambda row: row.q_value or 0.0, default=None)
        return None if best is None else Hint(best, ())
    equal = [row for row in rows if row.minimax_value == max(exact)]
    quick = session.minimax_values(game.env_id, game.state, _QUICK)
    best = max(
        equal,
        key=lambda row: (0.0 if quick is None else quick[row.move], row.q_value or 0.0),
    )
    return Hint(best, tuple(row.move for row in equal if row is not best))
