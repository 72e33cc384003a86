"""Depth-limited search on PGX states, for games too large to enumerate.

Axes: `B` games, `A` actions.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from flax import nnx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.dqn import equations
from jax_ttt.dqn.greedy_player import greedy_actions
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import choose_in_blocks
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network
from jax_ttt.players.network_player import near_best_moves

MAX_BOARDS = 2**13
"""Maximum number of boards of the deepest level at once: it bounds the memory of a
search."""

QFunction = Callable[[pgx.State], jax.Array]
"""A function from states to action values `(B, A)` for the player to move."""


def negamax(
    env: pgx.Env,
    q_fn: QFunction,
    env_state: pgx.State,
    depth: int,
    gamma: equations.ScalarLike = 1.0,
) -> Float[Array, "B A"]:
    """Return action values after `depth` moves of best play, which ends in `q_fn`.

    With depth 0, they are the values of `q_fn`. Each level computes one TD target with
    discount `gamma`, for A times as many boards as the level above. Games whose deepest
    level has more than `MAX_BOARDS` boards are searched in groups.
    """
    if not depth:
        return q_fn(env_state)
    num_games, num_actions = env_state.legal_action_mask.shape
    group_size = max(MAX_BOARDS // num_actions**depth, 1)
    if num_games > group_size:

        def values_of_game(game_state: pgx.State) -> jax.Array:
            batch = jax.tree.map(lambda x: x[None], game_state)
            return negamax(env, q_fn, batch, depth, gamma)[0]

        return jax.lax.map(values_of_game, env_state, batch_size=group_size)
    action = jnp.tile(jnp.arange(num_actions), num_games)
    boards = jax.tree.map(lambda x: jnp.repeat(x, num_actions, axis=0), env_state)
    after, move = pgx_games.step(env, boards, action, gamma)
    next_q = negamax(env, q_fn, after, depth - 1, gamma)
    target = equations.td_target(
        move.reward, move.discount, next_q, after.legal_action_mask
    )
    return target.reshape(num_games, num_actions)


def lookahead_player(
    network: Network, params: nnx.State, gamma: float, depth: int
) -> Partial:
    """Return the player that searches `depth` moves deep, then uses the network.

    `gamma` is the discount per move that the network was trained with. Between equal
    moves, `greedy_player.greedy_actions` decides.
    """
    values_fn = _values_fn(network, gamma, depth)
    return Partial(_searched_actions, network, values_fn, params)


def lookahead_near_best(
    network: Network, params: nnx.State, gamma: float, depth: int
) -> Partial:
    """Return the near-best moves of the lookahead player, for `Player.near_best`."""
    return Partial(near_best_moves, _values_fn(network, gamma, depth), params)


def _values_fn(network: Network, gamma: float, depth: int) -> Partial:
    """Return the function `(params, env_state) -> values` after the search."""
    discount = jax.device_put(np.float32(gamma))
    return Partial(_searched_values, Depth(depth), network, discount)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Depth:
    """The number of moves to look ahead; static, since the program depends on it."""

    moves: int


def _searched_actions(
    network: Network,
    values_fn: Partial,
    params: nnx.State,
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:

    def play(key: Key[Array, ""], game: pgx.State) -> Int[Array, " one"]:
        del key  # the player is deterministic
        return greedy_actions(network, game, values_fn(params, game))

    # Game by game, since the last bits of a value depend on the number of boards.
    return choose_in_blocks(play, 1, key, env_state)


def _searched_values(
    depth: Depth,
    network: Network,
    gamma: Float[Array, ""],
    params: nnx.State,
    env_state: pgx.State,
) -> Float[Array, "B A"]:
    env = pgx_games.make_env(network.env_id)

    def q_fn(env_state: pgx.State) -> jax.Array:
        return q_network.action_values(network, params, env_state.observation)

    return negamax(env, q_fn, env_state, depth.moves, gamma)
