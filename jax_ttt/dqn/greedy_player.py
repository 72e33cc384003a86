"""The player that a learner has learned: a network and its weights.

Axes: `B` games, `A` actions.
"""

import dataclasses

import jax
import jax.numpy as jnp
import pgx
from flax import nnx
from jaxtyping import Array, Float, Int, Key, Shaped

from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games, stone_boards
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class GreedyPlayer:
    """The player of the legal action with the highest value; see `greedy_actions`."""

    network: Network
    params: nnx.State

    def __call__(self, key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
        """Return an action for each game; the key has no effect."""
        del key  # the player is deterministic
        obs = env_state.observation
        scores = q_network.action_scores(self.network, self.params, obs)
        return greedy_actions(self.network, env_state, scores)


def is_symmetric(network: Network) -> bool:
    """Return whether the greedy player plays mirrored moves on mirrored boards.

    It does if the network sees canonical boards and `greedy_actions` decides between
    equal values on these.
    """
    canonical = network.architecture.canonical
    return canonical and not GAMES[network.env_id].enumerable


def greedy_actions(
    network: Network, env_state: pgx.State, values: Float[Array, "B A"]
) -> Int[Array, " B"]:
    """Return the legal move with the highest value or score.

    Of equal moves, it is the one with the lowest index on the canonical board if the
    network sees that board. So mirrored boards get mirrored moves, and a search counts
    them as one position. In enumerable games it is the one with the lowest index on the
    board itself: equal values are common in tables, and the results of the published
    systems depend on this choice.
    """
    legal = env_state.legal_action_mask
    if not is_symmetric(network):
        return equations.greedy(values, legal)
    highest = jnp.where(legal, values, -jnp.inf).max(axis=-1, keepdims=True)
    is_best = legal & ~(values < highest)  # all legal moves, if a value is NaN
    places = action_places(network.env_id, env_state.observation)
    actions = jnp.argmin(jnp.where(is_best, places, places.shape[-1]), axis=-1)
    return actions.astype(jnp.int32)


def action_places(env_id: EnvId, obs: Shaped[Array, "B *shape"]) -> Int[Array, "B A"]:
    """Return the action on the canonical board for each action on the board.

    On a symmetric board, actions that are images of each other get the same number. In
    a game without listed symmetries, each board is its own canonical board.
    """
    game_views = pgx_games.symmetric_views(env_id)
    if game_views is None:
        actions = jnp.arange(pgx_games.sizes(env_id).num_actions)
        return jnp.broadcast_to(actions, (len(obs), len(actions)))
    least = stone_boards.least_views(stone_boards.cells(obs), game_views)
    return stone_boards.to_canonical_actions(game_views, least)
