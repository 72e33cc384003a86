"""From a board to its position in an enumerated game.

Boards are found by keys of 32 bits, made from their observations: the weights of the
keys are drawn until no two observations of the game have the same key, so that the
search among the game's own boards is exact.

Axes: `B` boards, `P` positions, `K` different observations, `F` numbers of an
observation, `L` levels (moves played).
"""

import dataclasses
from typing import Generic, TypeAlias

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
        """Return the first position with each observation, after the fewest moves."""
        places = self._places(obs)
        return array_module(places, self.first).asarray(self.first)[places]

    def _places(self, obs: Shaped[ArrayT, "B *shape"]) -> Places:
        xp = array_module(obs, self.keys)
        return xp.searchsorted(self.keys, xp.matmul(_words(obs), self.weights))


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


def _words(obs: Shaped[ArrayT, "B *shape"]) -> Shaped[ArrayT, "B F"]:
    """Return the numbers of each observation as uint32; of a float, its bits."""
    flat = obs.reshape(len(obs), -1)
    if not jnp.issubdtype(flat.dtype, jnp.floating):
        return flat.astype(np.uint32)
    flat = flat.astype(np.float32) + np.float32(0)  # the two zeros are one number
    if isinstance(flat, np.ndarray):
        return flat.view(np.uint32)
    return jax.lax.bitcast_convert_type(flat, jnp.uint32)
