"""Positions as keys: back and forth, without collisions, in every symmetric view."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import random_games

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games.position_keys import Stones


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_four", "mnk_4x4_4"])
def test_a_key_is_one_position_and_gives_its_state(env_id):
    """On the host too, with NumPy."""

    @jax.jit
    def there_and_back(state):
        keys = position_keys.keys_of(env_id, state)
        return keys, position_keys.to_states(env_id, position_keys.unpack(env_id, keys))

    board_of_key = {}
    for state in random_games(env_id, 500):
        # The first player has id 0.
        before = state.replace(current_player=state._step_count % 2)
        live = ~before.terminated
        if not live.any():
            break
        keys, again = jax.device_get(there_and_back(before))
        for leaf, other in zip(*map(jax.tree.leaves, (before, again)), strict=True):
            assert leaf.dtype == other.dtype
            np.testing.assert_array_equal(leaf[live], other[live])
        stones = position_keys.unpack(env_id, keys)
        np.testing.assert_array_equal(position_keys.pack(env_id, stones), keys)
        for leaf, on_host in (
            (before.observation, position_keys.observation(env_id, stones)),
            (before.legal_action_mask, position_keys.legal_action_mask(env_id, stones)),
        ):
            np.testing.assert_array_equal(leaf[live], on_host[live])
        for key, board in zip(keys[live], before._x.board[live], strict=True):
            assert board_of_key.setdefault(bytes(key), bytes(board)) == bytes(board)
    assert len(set(board_of_key.values())) == len(board_of_key) > 1000


def stones(first, second, num_cells):
    """Return one board with stones in these cells."""
    planes = np.zeros((2, 1, num_cells), bool)
    planes[0, 0, first], planes[1, 0, second] = True, True
    return Stones(*planes)


@pytest.mark.parametrize(
    ("env_id", "first", "second", "key"),
    [
        # Two bits of each cell: 1 is free, 2 the mover's stone, here the second's.
        ("tic_tac_toe", [0, 2], [1], [0b01_01_01_01_01_01_00_10_00, 0]),
        # Sixteen cells fill the first word; here the first player moves.
        ("mnk_4x4_4", [0, 15], [13, 14], [int("100000" + "01" * 12 + "10", base=2), 0]),
        # Five bits of each column: stones from below, 1 is the first player's, then a
        # 1. Six columns fit into a word.
        ("connect_4x4", [12, 4], [8, 15], [0b00010_00001_00001_01101, 0]),
        # Seven columns of seven bits: four in the first word, three in the second.
        (
            "connect_7x6",
            [39],
            [],
            [0b0000001_0000001_0000001_0000001, 0b0000001_0000001_0000011],
        ),
    ],
)
def test_keys_by_hand(env_id, first, second, key):
    rows, columns = GAMES[env_id].shape
    board = stones(first, second, rows * columns)
    keys = position_keys.pack(env_id, board)
    assert keys.dtype == np.uint32
    assert keys.tolist() == [key]


def test_a_view_permutes_the_cells():
    views = pgx_games.views_of(GAMES["connect_4x4"].symmetries)
    assert views.cells.shape == (2, 16)
    seen = position_keys.stones_in_view(stones([12], [13], 16), views.cells[1])
    assert np.flatnonzero(seen.first).tolist() == [15]
    assert np.flatnonzero(seen.second).tolist() == [14]


@pytest.mark.parametrize(("env_id", "cells"), [("mnk_4x4_4", 16), ("tic_tac_toe", 9)])
def test_the_key_of_merged_images_is_the_least_of_all_eight(env_id, cells):
    """Of random boards, whose keys fill two words or one."""
    board = np.random.default_rng(0).integers(0, 3, (50, cells))
    stones = Stones(board == 1, board == 2)
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


def test_numbers_are_words_and_back():
    numbers = np.array([0, 1, 2**32, 2**63 + 5], np.uint64)
    words = position_keys.numbers_to_keys(numbers)
    assert words.dtype == np.uint32
    assert words.tolist() == [[0, 0], [1, 0], [0, 1], [5, 2**31]]
    np.testing.assert_array_equal(position_keys.keys_to_numbers(words), numbers)
    jax.device_put(words)


@given(st.data())
def test_a_key_is_found_among_ordered_ones(data):
    """Numbers that share a word with another one are the difficult ones."""
    words = st.sampled_from([0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1])
    number = st.builds(lambda high, low: high << 32 | low, words, words)
    count = data.draw(st.sampled_from([1, 2, 7, 8]))  # each is compiled
    sets = st.sets(number, min_size=count, max_size=count)
    ordered = np.array(sorted(data.draw(sets)), np.uint64)
    order = np.array(data.draw(st.permutations(range(count))), np.int32)
    keys = position_keys.numbers_to_keys(ordered)
    find = jax.jit(position_keys.places_of_keys)
    places = find(keys, keys[order])
    np.testing.assert_array_equal(places, order)
    others = position_keys.numbers_to_keys(np.array([0, 5, 2**64 - 1], np.uint64))
    missing = np.asarray(find(keys, others))
    assert ((missing >= 0) & (missing < count)).all()
