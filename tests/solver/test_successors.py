"""The moves of a player, and all moves, as keys of the positions after them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.games import position_keys
from jax_ttt.games.played_game import Game
from jax_ttt.solver import successors
from jax_ttt.solver.successors import DRAWN, ILLEGAL, OPEN, WON, SearchedPlayer

ENV = "connect_4x4"
COLUMNS = [0, 1, 0, 1, 0, 1]
"""The first player then wins on column 0, the second on column 1."""


@functools.cache
def words_of(*moves):
    """Return the key of the position after these moves, `(1, 2)`."""
    return position_keys.keys_of(ENV, Game.start(ENV, moves).state)


def number_of(*moves):
    """Return the same as one number."""
    return int(position_keys.keys_to_numbers(np.asarray(words_of(*moves)))[0])


@pytest.mark.parametrize(
    ("moves", "results"),
    [
        (COLUMNS, [WON, OPEN, OPEN, OPEN]),
        ([2, 2, 2, 2], [OPEN, OPEN, ILLEGAL, OPEN]),
        (
            [0, 2, 0, 3, 1, 1, 0, 2, 1, 2, 3, 0, 3, 3, 2],
            [ILLEGAL, DRAWN, ILLEGAL, ILLEGAL],
        ),
    ],
)
def test_all_moves_of_a_position(moves, results):
    after = successors.after_all_moves(ENV, words_of(*moves), merge_symmetric=False)
    assert after.action.tolist() == [[0, 1, 2, 3]]
    assert after.result.tolist() == [results]
    keys = position_keys.keys_to_numbers(np.asarray(after.keys))[0]
    for column, result in enumerate(results):
        if result == OPEN:
            assert keys[column] == number_of(*moves, column)


def play_column(column, key, env_state):
    """Play one column, wherever it is."""
    del key
    return jnp.broadcast_to(column, env_state.terminated.shape)


def player_moves(player, words, **options):
    return successors.after_player_move(ENV, player, words, **options)


@pytest.mark.parametrize(
    ("column", "result"), [(0, WON), (2, OPEN), (4, ILLEGAL), (-1, ILLEGAL)]
)
def test_the_move_of_a_player(column, result):
    player = Partial(play_column, np.int32(column))
    after = player_moves(
        player, words_of(*COLUMNS), merge_symmetric=False, is_checked=False
    )
    assert after.result.tolist() == [[result]]
    assert after.action.tolist() == [[column]]


def play_above_the_lowest_stone(key, env_state):
    """Play the first column with a stone: the same in each image."""
    del key
    return env_state.observation.any(axis=(1, 3)).argmax(axis=1).astype(jnp.int32)


def test_a_player_who_moves_elsewhere_on_the_mirror_image_is_noticed():
    """The empty board is its own image."""
    column_0 = Partial(play_column, np.int32(0))
    boards = np.concatenate([words_of(), words_of(0), words_of(1, 2)])
    options = {"merge_symmetric": True, "is_checked": True}
    after = player_moves(column_0, boards, **options)
    assert after.breaks_symmetry.tolist() == [False, True, True]
    boards = np.concatenate([words_of(0), words_of(1, 1), words_of(3, 3, 3)])
    after = player_moves(Partial(play_above_the_lowest_stone), boards, **options)
    assert after.breaks_symmetry.tolist() == [False] * 3


def test_two_batches_are_computed_while_one_is_used():
    """The last batch has fewer positions."""
    player = SearchedPlayer(
        env_id=ENV,
        choose=Partial(play_column, np.int32(0)),
        seat="first",
        merge_symmetric=False,
        batch=16,
    )
    keys = np.arange(70, dtype=np.uint64)
    computed = []

    def compute(words):
        computed.append(position_keys.keys_to_numbers(words))
        return len(computed)

    batches = successors.in_batches(
        player, compute, keys, fetch=lambda number, size: (number, size)
    )
    used = []
    for places, (number, size) in batches:
        used.append(places)
        assert number == len(used)
        assert size == places.stop - places.start
        assert len(computed) == min(len(used) + 2, 5)
    assert [computed[number][0] for number in range(5)] == [0, 16, 32, 48, 64]
    assert [(places.start, places.stop) for places in used] == [
        (0, 16),
        (16, 32),
        (32, 48),
        (48, 64),
        (64, 70),
    ]


@pytest.mark.parametrize(("env_id", "cells"), [("mnk_4x4_4", 16), ("tic_tac_toe", 9)])
def test_the_key_of_merged_images_is_the_least_of_all_eight(env_id, cells):
    """Of random boards, whose keys fill two words or one."""
    board = np.random.default_rng(0).integers(0, 3, (50, cells))
    stones = position_keys.Stones(board == 1, board == 2)
    pack, pack_least = (
        jax.jit(function, static_argnums=0)
        for function in (position_keys.pack, position_keys.pack_least)
    )

    def numbers(words):
        return position_keys.keys_to_numbers(np.asarray(words))

    views = position_keys.all_views(env_id).cells
    images = [position_keys.stones_in_view(stones, view) for view in views]
    keys = [numbers(pack(env_id, image)) for image in images]
    assert len(keys) == 8
    for image in images:
        np.testing.assert_array_equal(
            numbers(pack_least(env_id, image)), np.min(keys, axis=0)
        )
