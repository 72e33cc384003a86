"""The values of the legal moves of a game: under best play, and an agent's estimates.

Axes: `A` actions.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jax_ttt.config.game_facts import Seat
from jax_ttt.games import positions, stones
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game
from jax_ttt.players import network_player
from jax_ttt.players.saved_agents import SavedAgent
from jax_ttt.solver import minimax


class MoveValue(NamedTuple):
    """The value of a legal move to the player to move: -1 loss, 1 win."""

    move: int
    minimax_value: float | None  # under best play; None if not enumerable
    q_value: float | None  # a saved agent's estimate; None without an agent


def move_values(game: Game, agent: SavedAgent | None) -> tuple[MoveValue, ...]:
    """Return the values of the legal moves, in the order of the moves."""
    exact = minimax_values(game)
    learned = None if agent is None else agent_values(game, agent)
    return tuple(
        MoveValue(
            move,
            None if exact is None else float(exact[move]),
            None if learned is None else float(learned[move]),
        )
        for move in game.legal_moves
    )


def minimax_values(game: Game, quick: bool = False) -> Float[np.ndarray, " A"] | None:
    """Return the value of each move to the player to move under best play.

    With `quick`, values are discounted by `minimax.QUICK`: a quick win is better than a
    slow one. The result is None if the game is not enumerable.
    """
    tree = trees.host_tree(game.env_id)
    if tree is None:
        return None
    index = jnp.asarray(positions.position_index(game.env_id))
    position = int(stones.locate(index, game.state.observation)[0])
    values = minimax.values(tree, minimax.QUICK if quick else 1.0)
    return minimax.to_mover(tree, values)[position]


def agent_values(game: Game, agent: SavedAgent) -> Float[np.ndarray, " A"]:
    """Return an agent's estimate of the value of each action, legal or not."""
    obs = game.state.observation
    return np.asarray(network_player.board_values(agent.network, agent.params, obs))[0]


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
    index, reviewed = jnp.asarray(positions.position_index(game.env_id)), []
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
