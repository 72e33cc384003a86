"""The random numbers of updates, drawn before the updates are made.

Each update has its own, from the run's key and the update's index, so a chunk of any
length gives the same. A chunk draws them all at once: on a CPU, drawing one update's
numbers inside the compiled loop takes 600 small kernels.

Axes: `B` games, `T` turns of an update: see `num_turns`.
"""

from typing import NamedTuple

import jax
from jaxtyping import Array, Int, Key

from jax_ttt.config.settings import Config
from jax_ttt.envs import opponents


class Turn(NamedTuple):
    """The random numbers of a move in every game, and of learning from it."""

    uniform: jax.Array  # (B,) float32, from 0 to below 1: see `epsilon_greedy`
    reply_key: jax.Array  # () typed PRNG key, like the next one: of the opponent
    learn_key: jax.Array


class Draws(NamedTuple):
    """The random numbers of an update."""

    turns: Turn  # (T, ...)
    restart_key: jax.Array  # () typed PRNG key, like the next one
    sample_key: jax.Array

    @property
    def first(self) -> Turn:
        """The first turn's."""
        return jax.tree.map(lambda x: x[0], self.turns)


def turn(keys: Key[Array, " 3"], num_envs: int) -> Turn:
    """Return the random numbers of a turn; the keys are consumed."""
    move_key, reply_key, learn_key = keys
    return Turn(jax.random.uniform(move_key, (num_envs,)), reply_key, learn_key)


def of_update(
    config: Config, key: Key[Array, ""], update: int | Int[Array, ""]
) -> Draws:
    """Return the random numbers of the update with this index, from the run's `key`."""
    key, length = jax.random.fold_in(key, update), num_turns(config)
    # All from one split: two more would take a second longer to compile.
    keys = jax.random.split(key, 2 + 3 * length)
    turns_keys = keys[2:].reshape(length, 3)
    turns = jax.vmap(turn, in_axes=(0, None))(turns_keys, config.run.num_envs)
    return Draws(turns, restart_key=keys[0], sample_key=keys[1])


def num_turns(config: Config) -> int:
    """Return the turns of an update: one, or with `backward` all of the games'."""
    if not config.target.backward:
        return 1
    return opponents.max_turns(config.env_id, config.opponent)
