"""Search a few moves ahead by stepping PGX: for games too large for a tree.

Axes: `B` games, `A` actions.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import pgx
from flax import nnx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.dqn import equations
from jax_ttt.envs import pgx_games
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network

MAX_BOARDS = 2**18
"""Boards held at once, at most; more games than these allow are searched in turn."""

QFunction = Callable[[pgx.State], jax.Array]
"""Action values `(B, A)` to the mover of each game."""


def negamax(
    env: pgx.Env,
    q_fn: QFunction,
    env_state: pgx.State,
    depth: int,
    gamma: equations.Scalar = 1.0,
) -> Float[Array, "B A"]:
    """Return `q_fn`'s values backed up over `depth` moves of best play, its own at 0.

    Each level is one TD target, discounted by `gamma`, and has A times as many boards.
    """
    if not depth:
        return q_fn(env_state)
    num_games, num_actions = env_state.legal_action_mask.shape
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
    """Return who plays best `depth` moves deep, and then trusts the network.

    `gamma` is the discount per move that the network learned with.
    """
    return Partial(_played, Depth(depth), network, params, jnp.float32(gamma))


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Depth:
    """How many moves to look ahead: static, as it shapes the program."""

    moves: int


def _played(
    depth: Depth,
    network: Network,
    params: nnx.State,
    gamma: Float[Array, ""],
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:
    del key  # always the same move
    env = pgx_games.make_env(network.env_id)

    def q_fn(env_state: pgx.State) -> jax.Array:
        return q_network.q_values(network, params, env_state.observation)

    def q_values(env_state: pgx.State) -> jax.Array:
        one = jax.tree.map(lambda x: x[None], env_state)
        return negamax(env, q_fn, one, depth.moves, gamma)[0]

    num_actions = env_state.legal_action_mask.shape[1]
    at_once = max(MAX_BOARDS // num_actions**depth.moves, 1)
    values = jax.lax.map(q_values, env_state, batch_size=at_once)
    return equations.greedy(values, env_state.legal_action_mask)
