"""Players: functions `(key, env_state of B games) -> actions`.

Each key is consumed. What a player returns in a finished game does not matter.
"""

from collections.abc import Callable

import jax
import pgx
from flax import nnx
from jaxtyping import Array, Int, Key

from jax_ttt import dqn, networks
from jax_ttt.config import Config

Player = Callable[[jax.Array, pgx.State], jax.Array]


def random_player(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    """Play any legal move with the same chance."""
    mask = env_state.legal_action_mask
    return dqn.random_legal(jax.random.uniform(key, mask.shape[:1]), mask)


def greedy_player(config: Config, params: nnx.State) -> Player:
    """Return the player of the network's best legal move, the lowest of equals."""

    def play(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
        del key  # always the same move
        q_values = networks.q_values(config, params, env_state.observation)
        return dqn.greedy(q_values, env_state.legal_action_mask)

    return play
