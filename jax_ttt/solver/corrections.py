"""Corrections: positions, each with the move to play in place of the network's.

An agent with corrections is an agent like any other. Those with which it is proven are
found by one rule (`solver.find_corrections`).

Where the agent plays mirrored moves on mirrored boards, a correction holds for all
images of its board: its key is the least key of the images, and its action is the
action on the image with that key. Else it holds for the board alone.

Axes: `B` games, `C` corrections, `G` views, `A` actions.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Int, Key, UInt8, UInt32, UInt64

from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat
from jax_ttt.games import pgx_games, position_keys, stone_boards
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.solver.batches import MarkFn


@dataclasses.dataclass(frozen=True, eq=False)
class Corrections:
    """Positions, and the move to play in each; `check` those of a file."""

    keys: UInt64[np.ndarray, "..."]  # (C,) as in `games.position_keys`, ascending
    actions: UInt8[np.ndarray, "..."]  # (C,) legal there

    def __len__(self) -> int:
        return len(self.keys)

    def seats(self, env_id: EnvId) -> list[Seat]:
        """Return the seat that is to move on each board."""
        words = position_keys.numbers_to_keys(self.keys)
        stones = position_keys.unpack(env_id, words)
        num_stones = (stones.first | stones.second).sum(axis=1)
        return [SEATS[number % 2] for number in num_stones]


def check_corrections(env_id: EnvId, corrections: Corrections) -> None:
    """Raise `ValueError` unless the keys ascend and stand for boards of the game.

    Each board must have as many stones of both players as after some moves, and a free
    place for the action. Whether the player reaches it is for its proof to say.
    """
    keys, actions = corrections.keys, corrections.actions
    if GAMES[env_id].packing is None:
        raise ValueError(f"positions of {env_id} have no keys of 64 bits")
    if keys.shape != actions.shape or keys.ndim != 1:
        raise ValueError("as many corrections need as many keys and actions")
    if not len(keys):
        raise ValueError("an agent without corrections has no tensors of them")
    if (keys[1:] <= keys[:-1]).any():
        raise ValueError("the keys of its corrections do not ascend")
    words = position_keys.numbers_to_keys(keys)
    stones = position_keys.unpack(env_id, words)
    if (position_keys.pack(env_id, stones) != words).any():
        raise ValueError("a key of its corrections is not a board of the game")
    more_of_first = stones.first.sum(axis=1) - stones.second.sum(axis=1)
    if not np.isin(more_of_first, (0, 1)).all():
        raise ValueError("a board of its corrections can't be reached")
    legal = position_keys.legal_action_mask(env_id, stones)
    is_inside = actions < legal.shape[1]
    if not is_inside.all() or not legal[np.arange(len(keys)), actions].all():
        raise ValueError("a move of its corrections is not legal")


def corrected_player(
    env_id: EnvId, choose: ChooseFn, corrections: Corrections, is_symmetric: bool
) -> Partial:
    """Return the player that makes the corrections' moves, else those of `choose`."""
    told = _told_moves_of(env_id, corrections, is_symmetric)
    return Partial(_corrected_actions, told, choose)


def corrected_near_best(
    env_id: EnvId, near_best: MarkFn, corrections: Corrections, is_symmetric: bool
) -> Partial:
    """Return the near-best moves of a corrected player: a told move is the only one."""
    told = _told_moves_of(env_id, corrections, is_symmetric)
    return Partial(_corrected_near_best, told, near_best)


def _corrected_actions(
    told: Partial, choose: ChooseFn, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    own_actions = choose(key, env_state)
    is_told, action = told(env_state)
    return jnp.where(is_told, action, own_actions)


def _corrected_near_best(
    told: Partial, near_best: MarkFn, env_state: pgx.State
) -> Bool[Array, "B A"]:
    own_moves = near_best(env_state)
    is_told, action = told(env_state)
    one_move = jax.nn.one_hot(action, own_moves.shape[1], dtype=bool)
    return jnp.where(is_told[:, None], one_move, own_moves)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _Game:
    """The game, and whether a correction holds for all images of its board."""

    env_id: EnvId
    is_symmetric: bool


def _told_moves_of(
    env_id: EnvId, corrections: Corrections, is_symmetric: bool
) -> Partial:
    words = position_keys.numbers_to_keys(corrections.keys)
    arrays = jax.device_put((words, corrections.actions.astype(np.int32)))
    return Partial(_told_moves, _Game(env_id, is_symmetric), *arrays)


def _told_moves(
    game: _Game,
    keys: UInt32[Array, "C 2"],
    actions: Int[Array, " C"],
    env_state: pgx.State,
) -> tuple[Bool[Array, " B"], Int[Array, " B"]]:
    """Return which boards have a correction, and its move; any move on the others."""
    place, actions_on_board = _find(game, keys, env_state)
    return place >= 0, actions_on_board[jnp.arange(len(place)), actions[place]]


def _find(
    game: _Game, keys: UInt32[Array, "C 2"], env_state: pgx.State
) -> tuple[Int[Array, " B"], Int[Array, "B A"]]:
    """Return the place of each board's correction, -1 without one.

    With it comes the action on the board for each action on the board of the key.
    """
    env_id = game.env_id
    stones = position_keys.stones_of(env_state)
    view_actions = pgx_games.views_of(GAMES[env_id].symmetries).actions
    num_views = None if game.is_symmetric else 1
    images = position_keys.pack_views(env_id, stones, num_views)
    view = stone_boards.least_keys(images).argmax(axis=1)
    board_keys = images[jnp.arange(len(images)), view]
    place = position_keys.places_of_keys(keys, board_keys)
    is_corrected = (keys[place] == board_keys).all(axis=-1)
    return jnp.where(is_corrected, place, -1), jnp.asarray(view_actions)[view]
