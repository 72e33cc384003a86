"""The random numbers of updates, drawn before the updates.

They depend only on the run's key and the update's index, so a run has the same numbers
however it is cut into chunks. The numbers of a block of updates are drawn at once: in
the compiled loop over updates, those of one update would take 600 small kernels on a
CPU.

Axes: `B` games, `T` turns of an update (see `num_turns`).
"""

from typing import NamedTuple

import jax
from jaxtyping import Array, Int, Key

from jax_ttt.config.settings import Config
from jax_ttt.games import training_opponents

_MAX_BLOCK = 50
"""Maximum number of updates in a block."""
_MAX_NUMBERS = 2**20
"""Maximum number of moves in a block of several updates: large updates don't gain."""


class Turn(NamedTuple):
    """The random numbers of a move in every game, and of learning from it."""

    uniform: jax.Array  # (B,) float32 in [0, 1), for `equations.epsilon_greedy`
    reply_key: jax.Array  # () typed PRNG key of the opponent's reply
    learn_key: jax.Array  # () typed PRNG key


class RandomNumbers(NamedTuple):
    """The random numbers of an update."""

    turns: Turn  # (T, ...)
    restart_key: jax.Array  # () typed PRNG key of new games
    sample_key: jax.Array  # () typed PRNG key of the replay buffer
    starts: jax.Array | None  # (B,) float32 in [0, 1), for `start_in_pool`

    @property
    def first(self) -> Turn:
        """The numbers of the first turn."""
        return jax.tree.map(lambda x: x[0], self.turns)


def draw_turn(keys: Key[Array, " 3"], num_envs: int) -> Turn:
    """Return the random numbers of a turn; `keys` are consumed."""
    move_key, reply_key, learn_key = keys
    return Turn(jax.random.uniform(move_key, (num_envs,)), reply_key, learn_key)


def draw_random_numbers(
    config: Config, key: Key[Array, ""], update: int | Int[Array, ""]
) -> RandomNumbers:
    """Return the random numbers of the update with this index; `key` is the run's."""
    key = jax.random.fold_in(key, update)
    length = num_turns(config)
    has_starts = config.start_share > 0
    # One split for all keys; two more splits take a second longer to compile.
    keys = jax.random.split(key, 2 + 3 * length + int(has_starts))
    restart_key, sample_key = keys[:2]
    turns_keys = keys[2 : 2 + 3 * length].reshape(length, 3)
    turns = jax.vmap(draw_turn, in_axes=(0, None))(turns_keys, config.num_envs)
    starts = None
    if has_starts:  # then the first key is theirs, and new games have the last
        starts = jax.random.uniform(keys[0], (config.num_envs,))
        restart_key = keys[-1]
    return RandomNumbers(turns, restart_key, sample_key, starts)


def num_turns(config: Config) -> int:
    """Return the number of turns in an update: 1, or with `backward` a whole game's."""
    if not config.backward:
        return 1
    return training_opponents.max_turns(config)


def block_length(config: Config) -> int:
    """Return the number of updates whose random numbers are drawn at once."""
    moves = config.num_envs * num_turns(config)
    return min(_MAX_BLOCK, max(1, _MAX_NUMBERS // moves))
