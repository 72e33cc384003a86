"""Corrections: which move is played on which board, and which tables are refused."""

import functools

import brute_corrections as brute
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rules
import small_boards
from jax.tree_util import Partial

from jax_ttt.solver.corrections import Corrections, check_corrections, corrected_player

key_4x4, key_3x3 = small_boards.key, rules.key


def second_legal(key, env_state):
    """Return the second legal move, or the only one."""
    del key
    legal = env_state.legal_action_mask
    places = jnp.cumsum(legal, axis=1)
    return (legal & (places == jnp.minimum(2, places[:, -1:]))).argmax(axis=1)


def corrections_for(moves, key_of=key_4x4):
    """Return a table, from boards and their moves."""
    pairs = sorted((key_of(board), move) for board, move in moves.items())
    keys, actions = zip(*pairs, strict=True)
    return Corrections(np.array(keys, "u8"), np.array(actions, "u1"))


def played(env_id, moves, boards, is_symmetric):
    key_of = brute.GAMES[env_id].key
    player = corrected_player(
        env_id, Partial(second_legal), corrections_for(moves, key_of), is_symmetric
    )
    # Always eight boards: a program is compiled for their number.
    env_state = brute.states_of(env_id, [*boards, *boards[:1] * 8][:8])
    return np.asarray(_play(player, env_state)).tolist()[: len(boards)]


@jax.jit
def _play(player, env_state):
    return player(jax.random.key(0), env_state)


def after(*columns):
    """Return the board of 4 x 4 after these moves."""
    return functools.reduce(small_boards.after, columns, small_boards.START)


# The board with the lesser key: its first column, in the lowest bits, is the higher.
LEFT, RIGHT, MIDDLE, START = after(0), after(3), after(1), after()
OWN = 1


def test_the_key_of_an_image_is_the_least():
    assert key_4x4(LEFT) < key_4x4(RIGHT)
    assert brute.mirrored(LEFT) == RIGHT
    assert brute.mirrored(START) == START


@pytest.mark.parametrize(
    ("corrections", "is_symmetric", "moves"),
    [
        ({LEFT: 3}, True, [3, 0, OWN, OWN]),  # both images of its board
        ({LEFT: 3}, False, [3, OWN, OWN, OWN]),
        ({RIGHT: 3}, False, [OWN, 3, OWN, OWN]),
        ({RIGHT: 3}, True, [OWN] * 4),  # an image that is not the least is never found
        ({START: 3}, True, [OWN, OWN, OWN, 3]),  # its own image has the move as it is
        ({START: 3}, False, [OWN, OWN, OWN, 3]),
    ],
)
def test_a_correction_holds_for_its_board_or_for_both_images(
    corrections, is_symmetric, moves
):
    boards = [LEFT, RIGHT, MIDDLE, START]
    assert played("connect_4x4", corrections, boards, is_symmetric) == moves


def test_many_corrections_are_each_found_on_their_boards():
    """Also the first and the last key of the table."""
    boards = [after(*columns) for columns in [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]]
    moves = {board: place % 4 for place, board in enumerate(boards)}
    found = played("connect_4x4", moves, boards, is_symmetric=False)
    assert found == [moves[board] for board in boards]
    others = [after(2), after(3), after(3, 3), after(2, 1)]
    assert played("connect_4x4", moves, others, is_symmetric=False) == [OWN] * 4


def test_in_tic_tac_toe_a_correction_is_for_the_board_alone():
    corner, other = "X--------", "--X------"
    moves = played("tic_tac_toe", {corner: 4}, [corner, other], is_symmetric=False)
    assert moves == [4, 1]


def test_the_seats_are_those_to_move():
    corrections = corrections_for({START: 1, LEFT: 1, after(0, 0): 1})
    seats = dict(
        zip(corrections.keys.tolist(), corrections.seats("connect_4x4"), strict=True)
    )
    assert seats == {
        key_4x4(START): "first",
        key_4x4(LEFT): "second",
        key_4x4(after(0, 0)): "first",
    }


FULL_COLUMN = after(0, 0, 0, 0)
FLOATING = key_3x3("---------") | 3
"""A digit of 3 stands for no stone."""
ABOVE_BOARD = 1 << 20
"""A bit above all columns of 4 x 4."""


def table(keys, actions):
    return Corrections(np.array(keys, "u8"), np.array(actions, "u1"))


def for_board(env_id, board, action=3):
    """Return a table of one correction."""
    return env_id, table([brute.GAMES[env_id].key(board)], [action])


@pytest.mark.parametrize(
    ("env_id", "corrections", "message"),
    [
        ("connect_4x4", table([], []), "without corrections has no tensors"),
        ("connect_4x4", table([key_4x4(START)], []), "as many keys and actions"),
        ("connect_4x4", table([[key_4x4(START)]], [[0]]), "as many keys and actions"),
        ("connect_4x4", table([key_4x4(LEFT), key_4x4(START)], [0, 0]), "not ascend"),
        ("connect_4x4", table([key_4x4(START)] * 2, [0, 1]), "do not ascend"),
        ("connect_4x4", table([0], [0]), "not a board"),
        ("connect_4x4", table([key_4x4(START) + ABOVE_BOARD], [0]), "not a board"),
        ("connect_4x4", table([2**64 - 1], [0]), "not a board"),
        ("tic_tac_toe", table([FLOATING], [4]), "not a board"),
        ("tic_tac_toe", table([2**63], [4]), "not a board"),
        (*for_board("connect_4x4", START, 4), "not legal"),
        (*for_board("connect_4x4", START, 255), "not legal"),
        (*for_board("connect_4x4", FULL_COLUMN, 0), "not legal"),
        (*for_board("tic_tac_toe", "X--------", 0), "not legal"),
        # Too many stones of a player, and a game that is over.
        (*for_board("connect_4x4", "-" * 12 + "O---"), "can't be reached"),
        (*for_board("connect_4x4", "-" * 12 + "XX--"), "can't be reached"),
        (*for_board("tic_tac_toe", "O--------"), "can't be reached"),
        (*for_board("tic_tac_toe", "XXX-O----"), "can't be reached"),
        ("othello", table([0], [0]), "no keys"),
    ],
)
def test_tables_that_are_not_corrections_are_refused(env_id, corrections, message):
    with pytest.raises(ValueError, match=message):
        check_corrections(env_id, corrections)


def test_a_sound_table_passes():
    check_corrections(
        "connect_4x4", corrections_for({START: 3, LEFT: 0, after(0, 0): 2})
    )
    check_corrections("tic_tac_toe", corrections_for({"X--------": 4}, key_3x3))
