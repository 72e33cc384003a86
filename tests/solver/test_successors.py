"""A search's moves: which are refused, and when they are computed.

That all of them are right is in test_reached_positions.py.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.games import position_keys
from jax_ttt.games.played_game import Game
from jax_ttt.solver import successors
from jax_ttt.solver.batches import IllegalMoveError, SearchedPlayer, in_batches

ENV = "connect_4x4"


def words_of(*moves):
    """Return the key of the position after these moves, `(1, 2)`."""
    return position_keys.keys_of(ENV, Game.start(ENV, moves).state)


def play_column(column, key, env_state):
    """Play one column, wherever it is."""
    del key
    return jnp.broadcast_to(column, env_state.terminated.shape)


def player_of(column):
    return SearchedPlayer(
        env_id=ENV,
        choose=Partial(play_column, np.int32(column)),
        seat="first",
        merge_symmetric=False,
        batch=16,
    )


@pytest.mark.parametrize("column", [4, -1])
def test_a_move_that_is_not_legal_is_an_error(column):
    keys = position_keys.keys_to_numbers(np.asarray(words_of()))
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
    assert [(places.start, places.stop) for places in used] == [
        (0, 16),
        (16, 32),
        (32, 48),
        (48, 64),
        (64, 70),
    ]
