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
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent
from jax_ttt.solver import policies


def best_play_values(game: Game, quick: bool = False) -> dict[int, float] | None:
    """Return the value of each legal move under best play; None if not enumerable.

    With `quick`, each move before the result multiplies the value by
    `policies.QUICK`, so a quick win is better than a slow one.
    """
    tree = trees.host_tree(game.env_id)
    if tree is None:
        return None
    position = _tree_position(game.env_id, game.state)
    values = policies.minimax_values(tree, policies.QUICK if quick else 1.0)
    return _of_legal_moves(game, policies.values_to_mover(tree, values)[position])


def agent_values(game: Game, agent: Agent) -> dict[int, float]:
    """Return an agent's estimate of the value of each legal move."""
    obs = game.state.observation
    values = saved_agents.board_values(agent.network, agent.params, obs)
    return _of_legal_moves(game, np.asarray(values)[0])


def _of_legal_moves(game: Game, values: Float[np.ndarray, " A"]) -> dict[int, float]:
    """Return the values of the legal moves, in ascending order of the moves."""
    return {move: float(values[move]) for move in game.legal_moves}


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
