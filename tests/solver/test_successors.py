"""The moves of a player, and all moves, as keys of the positions after them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.config.game_facts import GAMES, SEATS, Seat
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games.played_game import Game
from jax_ttt.games.state_keys import DRAWN, OPEN, WON
from jax_ttt.solver import successors
from jax_ttt.solver.batches import IllegalMoveError, SearchedPlayer, in_batches

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


def play_column(column, key, env_state):
    """Play one column, wherever it is."""
    del key
    return jnp.broadcast_to(column, env_state.terminated.shape)


def player_of(column, seat: Seat = "first"):
    return SearchedPlayer(
        env_id=ENV,
        choose=Partial(play_column, np.int32(column)),
        seat=seat,
        merge_symmetric=False,
        batch=16,
    )


@pytest.mark.parametrize(
    ("moves", "results"),
    [
        (COLUMNS, {0: WON, 1: OPEN, 2: OPEN, 3: OPEN}),
        ([*COLUMNS[:-1], 2], {0: WON, 1: OPEN, 2: OPEN, 3: OPEN}),
        ([2, 2, 2, 2], {0: OPEN, 1: OPEN, 3: OPEN}),
        ([0, 2, 0, 3, 1, 1, 0, 2, 1, 2, 3, 0, 3, 3, 2], {1: DRAWN}),
    ],
)
def test_all_moves_of_a_position(moves, results):
    """Whoever is to move wins: the player, or its opponent."""
    keys = position_keys.keys_to_numbers(np.asarray(words_of(*moves)))
    seats = SEATS if len(moves) % 2 == 0 else SEATS[::-1]
    for seat, sign in zip(seats, (1, -1), strict=True):
        ((_, after),) = successors.expand_all_moves(player_of(0, seat), keys)
        assert not after.row.any()
        expected = [r if r == OPEN else sign * r for r in results.values()]
        assert dict(zip(after.action.tolist(), after.result.tolist(), strict=True)) == (
            dict(zip(results, expected, strict=True))
        )
        for column, key in zip(after.action.tolist(), after.keys, strict=True):
            if results[column] == OPEN:
                assert key == number_of(*moves, column)


@pytest.mark.parametrize(("column", "result"), [(0, WON), (2, OPEN)])
def test_the_move_of_a_player(column, result):
    keys = position_keys.keys_to_numbers(np.asarray(words_of(*COLUMNS)))
    ((_, after),) = successors.expand_level(player_of(column), keys)
    assert after.result.tolist() == [result]
    assert after.action.tolist() == [column]


@pytest.mark.parametrize("column", [4, -1])
def test_a_move_that_is_not_legal_is_an_error(column):
    keys = position_keys.keys_to_numbers(np.asarray(words_of(*COLUMNS)))
    with pytest.raises(IllegalMoveError, match=f"plays {column}, which is not legal"):
        list(successors.expand_level(player_of(column), keys))


def play_above_the_lowest_stone(key, env_state):
    """Play the first column with a stone: the same in each image."""
    del key
    return env_state.observation.any(axis=(1, 3)).argmax(axis=1).astype(jnp.int32)


def breaks_symmetry(player, boards):
    """Return on which boards, where the first player is to move, it is not alike."""
    turns = successors.turns_of(
        ENV, np.int32(0), np.concatenate(boards), choose=player, sees_images=True
    )
    return turns.breaks_symmetry.tolist()


def test_a_player_who_moves_elsewhere_on_the_mirror_image_is_noticed():
    """The empty board is its own image."""
    column_0 = Partial(play_column, np.int32(0))
    boards = [words_of(), words_of(0, 0), words_of(1, 2)]
    assert breaks_symmetry(column_0, boards) == [False, True, True]
    boards = [words_of(0, 0), words_of(1, 1), words_of(3, 3, 3, 3)]
    above = Partial(play_above_the_lowest_stone)
    assert breaks_symmetry(above, boards[:2]) == [False] * 2


def test_two_batches_are_computed_while_one_is_used():
    """The last batch has fewer positions."""
    player = player_of(0)
    keys = np.arange(70, dtype=np.uint64)
    computed = []

    def compute(words):
        computed.append(position_keys.keys_to_numbers(words))
        return computed[-1]

    used = []
    for places, numbers in in_batches(player, compute, keys):
        used.append(places)
        np.testing.assert_array_equal(numbers, keys[places])
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

    views = pgx_games.views_of(GAMES[env_id].symmetries).cells
    images = [position_keys.stones_in_view(stones, view) for view in views]
    keys = [numbers(pack(env_id, image)) for image in images]
    assert len(keys) == 8
    for image in images:
        np.testing.assert_array_equal(
            numbers(pack_least(env_id, image)), np.min(keys, axis=0)
        )
