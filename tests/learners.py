"""What tests of the learner share: opponents, and compiled methods of `DQN`."""

import dataclasses

import jax
import numpy as np
from jax.tree_util import Partial

from jax_ttt.dqn import random_numbers
from jax_ttt.dqn.learner import DQN
from jax_ttt.games.training_opponents import Versus

init = jax.jit(DQN.init)
play = jax.jit(DQN.play)
learn = jax.jit(DQN.learn)
td_targets = jax.jit(DQN.td_targets)
gradient = jax.jit(DQN.gradient)
chunk = jax.jit(DQN.chunk)
draw = jax.jit(random_numbers.draw_random_numbers, static_argnums=0)


@jax.jit
def update(learner, state):
    """Do one update with its own random numbers."""
    drawn = random_numbers.draw_random_numbers(learner.config, state.key, state.update)
    return learner.update(state, drawn)


def versus(config, player):
    """Return the opponent of these settings that moves like `player`."""
    return Versus(
        env_id=config.env_id,
        num_envs=config.num_envs,
        seat=config.seat,
        first_move=config.first_move,
        player=player,
    )


def scripted(config, replies):
    """Return an opponent in tic-tac-toe that plays these moves in order."""
    moves = np.array([*replies, *[0] * (5 - len(replies))], np.int32)
    return versus(config, Partial(_reply, moves))


def _reply(replies, key, env_state):
    del key
    return replies[env_state._step_count // 2]


def learner_of(config):
    """Return the learner of settings; an opponent that they name never matters."""
    opponent = None if config.is_self_play else scripted(config, ())
    return DQN.of(config, opponent)


def swap_player_ids(env_state):
    """Return the same games with the ids of the two players swapped."""
    return dataclasses.replace(
        env_state,
        current_player=1 - env_state.current_player,
        rewards=env_state.rewards[..., ::-1],
    )
