"""Games of two random players."""

import itertools

import jax
import numpy as np

from jax_ttt.games import pgx_games
from jax_ttt.players.player import random_player


@jax.jit
def _choose(key, env_state):
    return random_player(key, env_state)


def random_games(env_id, num_games):
    """Yield the states of random games after each move, until all are over."""
    env = pgx_games.make_env(env_id)
    state = jax.device_get(pgx_games.init(env, jax.random.key(0), num_games))
    yield state
    for number in itertools.count():
        if state.terminated.all():
            return
        action = np.asarray(_choose(jax.random.key(number), state))
        state = jax.device_get(pgx_games.play_moves(env, state, action))
        yield state
