"""The moves of a player, and all moves, as keys of the positions after them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.games import packing
from jax_ttt.games.game import Game
from jax_ttt.solver import successors
from jax_ttt.solver.successors import DRAWN, ILLEGAL, OPEN, WON

ENV = "connect_4x4"
COLUMNS = [0, 1, 0, 1, 0, 1]
"""The first player then wins on column 0, the second on column 1."""


def key_of(moves, env_id=ENV):
    """Return the key of the position after these moves, `(1, 2)`."""
    return _key(env_id, Game.start(env_id, moves).state)


@functools.partial(jax.jit, static_argnums=0)
def _key(env_id, state):
    return packing.pack(env_id, packing.stones_of(state))


def always(column, key, env_state):
    """Play one column, wherever it is."""
    del key
    return jnp.broadcast_to(column, env_state.terminated.shape)


def number_of(moves, env_id=ENV):
    """Return the same as one number."""
    return int(packing.keys_to_numbers(np.asarray(key_of(moves, env_id)))[0])


def test_all_moves_of_a_position():
    moves = successors.after_all_moves(ENV, key_of(COLUMNS), False)
    assert moves.action.tolist() == [[0, 1, 2, 3]]
    assert moves.result.tolist() == [[WON, OPEN, OPEN, OPEN]]
    numbers = packing.keys_to_numbers(np.asarray(moves.keys))[0].tolist()
    assert numbers[1:] == [number_of([*COLUMNS, column]) for column in (1, 2, 3)]


def test_a_full_column_is_illegal():
    moves = successors.after_all_moves(ENV, key_of([2, 2, 2, 2]), False)
    assert moves.result.tolist() == [[OPEN, OPEN, ILLEGAL, OPEN]]


def test_a_full_board_is_a_draw():
    line = [0, 2, 0, 3, 1, 1, 0, 2, 1, 2, 3, 0, 3, 3, 2]
    moves = successors.after_all_moves(ENV, key_of(line), False)
    assert moves.result.tolist() == [[ILLEGAL, DRAWN, ILLEGAL, ILLEGAL]]


@pytest.mark.parametrize(
    ("column", "result"), [(0, WON), (2, OPEN), (4, ILLEGAL), (-1, ILLEGAL)]
)
def test_the_move_of_a_player(column, result):
    player = Partial(always, jnp.int32(column))
    moves = successors.after_player_move(ENV, player, key_of(COLUMNS), False, False)
    assert moves.result.tolist() == [[result]]
    assert moves.action.tolist() == [[column]]


def test_a_board_and_its_mirror_image_have_one_first_key():
    moves, mirrored = [0, 1, 1, 2], [3, 2, 2, 1]
    assert number_of(moves) != number_of(mirrored)
    both = np.concatenate([key_of(moves), key_of(mirrored)])
    found = packing.pack_least(ENV, packing.unpack(ENV, jnp.asarray(both)))
    numbers = packing.keys_to_numbers(np.asarray(found)).tolist()
    assert numbers == [min(number_of(moves), number_of(mirrored))] * 2


def test_the_first_key_is_the_least_number():
    """Of eight views of random boards, whose keys fill one word or both."""
    random = np.random.default_rng(0)
    for env_id, num_cells in (("mnk_4x4_4", 16), ("tic_tac_toe", 9)):
        cells = random.integers(0, 3, (50, num_cells))
        boards = packing.Stones(cells == 1, cells == 2)
        pack = jax.jit(packing.pack, static_argnums=0)
        numbers = [
            packing.keys_to_numbers(
                np.asarray(pack(env_id, packing.stones_in_view(boards, view)))
            )
            for view in packing.all_views(env_id).cells
        ]
        assert len(numbers) == 8
        found = jax.jit(packing.pack_least, static_argnums=0)(env_id, boards)
        least = packing.keys_to_numbers(np.asarray(found))
        np.testing.assert_array_equal(least, np.min(numbers, axis=0))


@pytest.mark.parametrize(
    ("moves", "differs"), [([], False), ([0], True), ([1, 2], True)]
)
def test_a_player_who_is_not_symmetric_is_noticed(moves, differs):
    """It plays column 0; the empty board is its own mirror image."""
    player = Partial(always, jnp.int32(0))
    found = successors.after_player_move(ENV, player, key_of(moves), True, True)
    assert found.breaks_symmetry.tolist() == [differs]
    found = successors.after_player_move(ENV, player, key_of(moves), False, False)
    assert found.breaks_symmetry.tolist() == [False]


def nearest_to_the_last(key, env_state):
    """Play the lowest stone's own column if it is free: the same in each image."""
    del key
    stones = env_state.observation.any(axis=-1).sum(axis=1)
    return jnp.argmax(stones, axis=1).astype(jnp.int32)


def test_a_player_who_is_symmetric_is_not():
    boards = jnp.concatenate([key_of([0]), key_of([1, 1]), key_of([3, 3, 3])])
    found = successors.after_player_move(
        ENV, Partial(nearest_to_the_last), boards, True, True
    )
    assert found.breaks_symmetry.tolist() == [False] * 3
