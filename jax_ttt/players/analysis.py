"""Values of a game's moves: under best play, and as an agent estimates them.

Values are to the player who makes the move: -1 loss, 0 draw, 1 win. Those under best
play exist in enumerable games only.

Axes: `A` actions.
"""

from typing import NamedTuple

import numpy as np
import pgx
from jaxtyping import Float

from jax_ttt.config.game_facts import EnvId, Seat
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game
from jax_ttt.players import network_player
from jax_ttt.players.saved_agents import Agent
from jax_ttt.solver import policies


class MoveValue(NamedTuple):
    """A legal move, and its value to the player to move."""

    move: int
    minimax_value: float | None  # under best play; None if not enumerable
    q_value: float | None  # an agent's estimate; None without an agent


def move_values(game: Game, agent: Agent | None) -> tuple[MoveValue, ...]:
    """Return the legal moves with their values, in ascending order."""
    exact_values = best_play_values(game)
    q_values = None if agent is None else agent_values(game, agent)
    return tuple(
        MoveValue(
            move=move,
            minimax_value=None if exact_values is None else float(exact_values[move]),
            q_value=None if q_values is None else float(q_values[move]),
        )
        for move in game.legal_moves
    )


def best_play_values(game: Game, quick: bool = False) -> Float[np.ndarray, " A"] | None:
    """Return the value of each action under best play; None if not enumerable.

    Illegal actions have the value -inf. With `quick`, each move before the result
    multiplies the value by `policies.QUICK`, so a quick win is better than a slow one.
    """
    tree = trees.host_tree(game.env_id)
    if tree is None:
        return None
    position = _tree_position(game.env_id, game.state)
    values = policies.minimax_values(tree, policies.QUICK if quick else 1.0)
    return policies.values_to_mover(tree, values)[position]


def agent_values(game: Game, agent: Agent) -> Float[np.ndarray, " A"]:
    """Return an agent's estimate of the value of each action, legal or not."""
    obs = game.state.observation
    return np.asarray(network_player.board_values(agent.network, agent.params, obs))[0]


def _tree_position(env_id: EnvId, env_state: pgx.State) -> int:
    """Return the position in the game's tree of a batch of one state."""
    return int(trees.position_index(env_id).of_states(env_state)[0])


class ReviewedMove(NamedTuple):
    """A move that was played, compared with best play."""

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
    """Compare each move of a game with best play; None if it is not enumerable."""
    tree = trees.host_tree(game.env_id)
    if tree is None:
        return None
    values = policies.minimax_values(tree)
    action_values = policies.values_to_mover(tree, values)
    is_best = policies.best_moves(tree, values)
    rows = []
    for move, env_state in zip(game.moves, game.states[:-1], strict=True):
        position = _tree_position(game.env_id, env_state)
        rows.append(
            ReviewedMove(
                mover=tree.to_move(position),
                move=move,
                position=position,
                value_before=float(action_values[position].max()),
                value_after=float(action_values[position, move]),
                best_moves=tuple(is_best[position].nonzero()[0].tolist()),
            )
        )
    return tuple(rows)
