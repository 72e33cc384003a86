"""From a board to its position in an enumerated game.

Boards are found by keys of 32 bits, made from their observations: the weights of the
keys are drawn until no two observations of the game have the same key, so that the
search among the game's own boards is exact.

Axes: `B` boards, `P` positions, `K` different observations, `F` numbers of an
observation, `L` levels (moves played).
"""

import dataclasses
from typing import Any, Generic, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Int, Shaped, UInt32

from jax_ttt.config.errors import Refused
from jax_ttt.games.stone_boards import ArrayT, LeafT, array_module

Places: TypeAlias = Int[Array, " B"] | Int[np.ndarray, " B"]
_MAX_TRIES = 100
"""Maximum number of draws of weights. For 100,000 different observations, one draw in
three has different keys."""
_NEGATIVE_ZERO = np.uint32(1 << 31)
_MIXER = np.uint32(0xC2B2AE35)
"""An odd factor, from MurmurHash3, a public-domain hash function by A. Appleby."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PositionIndex(Generic[LeafT]):
    """The positions of an enumerated game, by observations and numbers of moves.

    Its arrays are NumPy's until a program takes them.
    """

    keys: LeafT  # (K,) uint32 in ascending order
    weights: LeafT  # (F,) uint32
    by_level: LeafT  # (K, L) int32; 0 for a board that no game reaches there
    first: LeafT  # (K,) int32: the first position with the observation

    def of_states(self, env_state: pgx.State) -> Int[Array, " B"]:
        """Return the position of each state."""
        places = self._places(env_state.observation)
        return jnp.asarray(self.by_level)[places, env_state._step_count]

    def of_boards(self, obs: Shaped[ArrayT, "B *shape"]) -> Places:
        """Return the first position with each observation, after the fewest moves.

        For an observation that no position has, it is any position: compare the two.
        """
        places = self._places(obs)
        return array_module(places, self.first).asarray(self.first)[places]

    def _places(self, obs: Shaped[ArrayT, "B *shape"]) -> Places:
        xp = array_module(obs, self.keys)
        places = xp.searchsorted(self.keys, xp.matmul(_words(obs), self.weights))
        last = xp.size(self.keys) - 1
        return xp.minimum(places, last)  # a key may be above all of these


def index_positions(
    obs: Shaped[np.ndarray, "P *shape"],
    num_moves: Int[np.ndarray, " P"],
    terminal: Shaped[np.ndarray, " P"],
) -> PositionIndex[np.ndarray]:
    """Return the index of positions with these observations; levels ascend.

    Raises:
        Refused: two positions in which a move must be chosen have the same observation
            after the same number of moves.
    """
    words = _words(obs)
    different, first, place = np.unique(
        words, axis=0, return_index=True, return_inverse=True
    )
    keys, weights = _different_keys(different)
    order = np.argsort(keys)
    rank = np.argsort(order)[place.reshape(-1)]  # of each position's observation
    by_level = np.zeros((len(order), int(num_moves.max()) + 1), np.int32)
    cell = rank * by_level.shape[1] + num_moves
    decisions = np.flatnonzero(~terminal)
    if len(np.unique(cell[decisions])) < len(decisions):
        raise Refused(
            "two different positions have the same observation after the same number "
            "of moves; the observation must show all that matters for the rest of the "
            "game"
        )
    # Decisions come last, so that they keep their places.
    for positions in (np.flatnonzero(terminal), decisions):
        by_level.reshape(-1)[cell[positions]] = positions
    return PositionIndex(
        keys=keys[order],
        weights=weights,
        by_level=by_level,
        first=first[order].astype(np.int32),
    )


def _different_keys(
    words: UInt32[np.ndarray, "K F"],
) -> tuple[UInt32[np.ndarray, " K"], UInt32[np.ndarray, " F"]]:
    """Return a different key for each row, and the weights that make them."""
    rng = np.random.default_rng(0)
    for _ in range(_MAX_TRIES):
        weights = rng.integers(2**32, size=words.shape[1], dtype=np.uint32)
        keys = words @ weights
        if len(np.unique(keys)) == len(keys):
            return keys, weights
    raise Refused("no keys for the observations of this game were found")


def _words(obs: Shaped[ArrayT, "B *shape"]) -> UInt32[ArrayT, "B F"]:
    """Return a different uint32 for each number: of a float, one made from its bits.

    The low bits of a float are mostly 0, and a product with a weight would have as many
    zeros. So each word is mixed, by steps that can be undone.
    """
    xp = array_module(obs)
    words: Any = obs.reshape(len(obs), -1)
    if not jnp.issubdtype(words.dtype, jnp.floating):
        words = words.astype(np.uint32)
    else:
        words = words.astype(np.float32).view(np.uint32)
        # The two zeros are one number. Compiled programs leave out the sum with 0.0.
        words = xp.where(words == _NEGATIVE_ZERO, np.uint32(0), words)
    words = (words ^ (words >> 16)) * _MIXER
    return words ^ (words >> 16)
