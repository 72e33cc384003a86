"""Players that need no search: random, epsilon-greedy, of a policy.

A player is a function `(key, env_state of B games) -> actions`. It consumes its key.
Its action in a finished game is ignored. It is a `jax.tree_util.Partial`, whose arrays
are data and not part of the program: players of one kind share a compiled match.

Axes: `B` games, `A` actions, `P` positions.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Key

from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.games.board_index import PositionIndex


def _random_actions(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    mask = env_state.legal_action_mask
    return equations.random_legal(jax.random.uniform(key, mask.shape[:1]), mask)


random_player = Partial(_random_actions)
"""Plays each legal move with equal probability."""


def blended_player(chance: float, player: Partial) -> Partial:
    """Return the player of a random move with probability `chance`, else `player`'s.

    `chance` is from 0 to 1. With a greedy `player`, the result is epsilon-greedy.
    """
    return Partial(_blended_actions, jax.device_put(np.float32(chance)), player)


def _blended_actions(
    chance: Float[Array, ""], player: Partial, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    chance_key, random_key, player_key = jax.random.split(key, 3)
    num_games = env_state.legal_action_mask.shape[:1]
    is_random = jax.random.bernoulli(chance_key, chance, num_games)
    return jnp.where(
        is_random, random_player(random_key, env_state), player(player_key, env_state)
    )


def policy_player(
    index: PositionIndex[np.ndarray], probs: Float[np.ndarray, "P A"]
) -> Partial:
    """Return the player that draws its moves from a policy.

    `index` is the result of `tree.position_index`.
    """
    arrays = jax.device_put((index, probs.astype(np.float32)))
    return Partial(_policy_actions, *arrays)


def _policy_actions(
    index: PositionIndex[jax.Array],
    probs: Float[Array, "P A"],
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:
    logits = jnp.log(probs[index.of_states(env_state)])
    return jax.random.categorical(key, logits, axis=-1).astype(jnp.int32)


def moves_of_policy(
    index: PositionIndex[np.ndarray], probs: Float[np.ndarray, "P A"]
) -> Partial:
    """Return the function that marks the moves that a policy may play in states.

    They are those whose probability is not 0. `index` is as for `policy_player`.
    """
    return Partial(_policy_moves, *jax.device_put((index, probs != 0)))


def _policy_moves(
    index: PositionIndex[jax.Array], is_played: Bool[Array, "P A"], env_state: pgx.State
) -> Bool[Array, "B A"]:
    return is_played[index.of_states(env_state)]


@functools.partial(jax.jit, static_argnames=("env", "num_games", "num_moves"))
def boards_of_random_games(
    env: pgx.Env, key: Key[Array, ""], num_games: int, num_moves: int
) -> pgx.State:
    """Return the boards before each of the first `num_moves` moves of random games.

    The batch has `num_games * num_moves` boards. After the end of a game, its last
    board is repeated. `key` is consumed.
    """

    def ply(state: pgx.State, key: jax.Array) -> tuple[pgx.State, pgx.State]:
        after, _ = pgx_games.step(env, state, random_player(key, state), 1.0)
        return after, state

    init_key, play_key = jax.random.split(key)
    start = pgx_games.init(env, init_key, num_games)
    _, states = jax.lax.scan(ply, start, jax.random.split(play_key, num_moves))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states)
