"""The values of the legal moves of a game: under best play, and an agent's estimates.

Axes: `A` actions.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jax_ttt.games import positions, stones
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game
from jax_ttt.players import network
from jax_ttt.players.agents import Agent
from jax_ttt.solver import minimax


class MoveValue(NamedTuple):
    """The value of a legal move to the player to move: -1 loss, 1 win."""

    move: int
    minimax_value: float | None  # under best play; None if not enumerable
    q_value: float | None  # a saved agent's estimate; None without an agent


def move_values(game: Game, agent: Agent | None) -> tuple[MoveValue, ...]:
    """Return the values of the legal moves, in the order of the moves."""
    exact = minimax_values(game)
    learned = None if agent is None else q_values(game, agent)
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
    index = jnp.asarray(positions.index(game.env_id))
    position = int(stones.locate(index, game.state.observation)[0])
    values = minimax.values(tree, minimax.QUICK if quick else 1.0)
    return minimax.to_mover(tree, values)[position]


def q_values(game: Game, agent: Agent) -> Float[np.ndarray, " A"]:
    """Return an agent's estimate of the value of each action, legal or not."""
    obs = game.state.observation
    return np.asarray(network.board_values(agent.network, agent.params, obs))[0]
