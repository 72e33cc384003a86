"""Players: functions `(key, env_state of B games) -> actions`.

Each key is consumed. What a player returns in a finished game does not matter. A player
is a `jax.tree_util.Partial`, so that its arrays are data: players of one kind share one
compiled match.

Axes: `B` games, `A` actions, `P` positions, `N` board numbers.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from flax import nnx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations
from jax_ttt.envs.tree import locate
from jax_ttt.networks import q_network


def _random(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    mask = env_state.legal_action_mask
    return equations.random_legal(jax.random.uniform(key, mask.shape[:1]), mask)


random_player = Partial(_random)
"""Plays any legal move with the same chance."""


def greedy_player(config: Config, params: nnx.State) -> Partial:
    """Return the player of the network's best legal move, the lowest of equals."""
    return Partial(_greedy(config), params)


@functools.cache  # one function a config: its matches are compiled once
def _greedy(config: Config) -> Callable[..., jax.Array]:
    def play(
        params: nnx.State, key: Key[Array, ""], env_state: pgx.State
    ) -> Int[Array, " B"]:
        del key  # always the same move
        q_values = q_network.q_values(config, params, env_state.observation)
        return equations.greedy(q_values, env_state.legal_action_mask)

    return play


def blended(chance: float, player: Partial) -> Partial:
    """Return who plays a random legal move with this chance, 0 to 1, else `player`'s.

    A greedy player so blended is epsilon-greedy.
    """
    return Partial(_blended, jnp.float32(chance), player)


def _blended(
    chance: Float[Array, ""], player: Partial, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    chance_key, random_key, player_key = jax.random.split(key, 3)
    at_random = jax.random.bernoulli(chance_key, chance, env_state.current_player.shape)
    return jnp.where(
        at_random, random_player(random_key, env_state), player(player_key, env_state)
    )


def policy_player(
    index: Int[np.ndarray, " N"], probs: Float[np.ndarray, "P A"]
) -> Partial:
    """Return the player of a policy; `index` as `tree.index` gives it."""
    return Partial(_drawn, jnp.asarray(index), jnp.asarray(probs, jnp.float32))


def _drawn(
    index: Int[Array, " N"],
    probs: Float[Array, "P A"],
    key: Key[Array, ""],
    env_state: pgx.State,
) -> Int[Array, " B"]:
    logits = jnp.log(probs[locate(index, env_state.observation)])
    return jax.random.categorical(key, logits, axis=-1).astype(jnp.int32)
