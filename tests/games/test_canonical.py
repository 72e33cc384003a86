"""Symmetric boards have the same canonical board: the one with the least key."""

import jax
import numpy as np

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import packing, stones, symmetry
from jax_ttt.players import network_player

VIEWS = np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries])


def views(env_id="tic_tac_toe"):
    found = symmetry.views(env_id)
    assert found is not None
    return found


def canonical_cells(cells):
    """Return the canonical views of boards, and the cells mapped back from them."""
    least = symmetry.least_views(cells, views())
    boards = cells.reshape(-1, 3, 3, 1)
    seen = symmetry.to_canonical(boards, views(), least).reshape(-1, 9)
    return seen, symmetry.from_canonical(seen[None], views(), least)[0]


def test_all_views_of_a_board_have_the_same_canonical_view(tree):
    cells = np.asarray(stones.cells(tree.obs))
    find = jax.jit(canonical_cells)

    def seen_as(cells):
        seen, back = map(np.asarray, find(cells))
        assert np.array_equal(back, cells)  # as actions are cells
        return seen

    plain = seen_as(cells)
    for view in VIEWS:
        assert np.array_equal(seen_as(cells[:, view]), plain)
    # The stones determine the player to move, so these are all classes of the tree.
    assert len(np.unique(plain, axis=0)) == 765


def test_boards_that_are_equal_in_their_last_cells_are_compared_by_the_first_ones():
    """Connect Four's 42 cells have four parts; here only the lowest part differs."""
    cells = np.zeros((2, 42), np.float32)
    cells[:, 0] = 1, -1
    find = jax.jit(lambda x: symmetry.least_views(x, views("connect_four")))
    least = find(cells)
    assert least.tolist() == [[True, False], [False, True]]


def test_the_canonical_board_has_the_least_key_of_its_views(tree):
    cells = np.asarray(stones.cells(tree.obs)).astype(int)
    keys = symmetry.keys_on_host(cells[:, views().cells])
    least = np.asarray(symmetry.least_views(stones.cells(tree.obs), views()))
    np.testing.assert_array_equal(least, keys == keys.min(axis=1, keepdims=True))


def test_keys_by_hand():
    """Two bits of each cell, the last highest: 2 is the mover's stone, 1 is free."""
    cells = np.array([[1, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1, -1]])
    free = int("01" * 9, base=2)
    expected = [free + 1, free + 4**7 - 4**8]
    assert symmetry.keys_on_host(cells).tolist() == expected


def test_a_packed_board_of_cells_is_its_key(host_tree):
    state = jax.tree.map(jax.numpy.asarray, host_tree.env_state)
    packed = jax.jit(
        lambda state: packing.pack("tic_tac_toe", packing.stones_of(state))
    )(state)
    cells = stones.cells_on_host(host_tree.obs)
    going = ~host_tree.terminal  # PGX shows the end of a game to who has just moved
    np.testing.assert_array_equal(
        packing.keys_to_numbers(np.asarray(packed))[going],
        symmetry.keys_on_host(cells)[going],
    )


def test_symmetric_boards_have_the_same_places_of_actions(tree):
    """What is on the cells shows which cell comes where; images of a cell are one."""
    places = jax.jit(network_player.action_places, static_argnums=0)

    def shown(obs):
        """Return for each place the stone there, 9 where no cell has it."""
        found = np.full((len(obs), 9), 9.0)
        np.put_along_axis(
            found,
            np.asarray(places("tic_tac_toe", obs)),
            np.asarray(stones.cells(obs)),
            axis=1,
        )
        return found

    plain = shown(tree.obs)
    assert ((plain == 9).sum(axis=1) > 0).sum() > 100  # boards that are own images
    for view in VIEWS:
        seen = np.asarray(tree.obs).reshape(-1, 9, 2)[:, view].reshape(-1, 3, 3, 2)
        np.testing.assert_array_equal(shown(seen), plain)
