"""Symmetric boards have the same canonical view."""

import jax
import numpy as np

from jax_ttt.config.catalogue import GAMES
from jax_ttt.games import stones, symmetry
from jax_ttt.networks import canonical_views

VIEWS = np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries])


def views(env_id="tic_tac_toe"):
    found = symmetry.views(env_id)
    assert found is not None
    return found


def canonical_cells(cells):
    """Return the canonical views of boards, and the cells mapped back from them."""
    least = canonical_views.least_views(cells, views())
    boards = cells.reshape(-1, 3, 3, 1)
    seen = canonical_views.to_canonical(boards, views(), least).reshape(-1, 9)
    return seen, canonical_views.from_canonical(seen[None], views(), least)[0]


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
    """Connect Four's 42 cells have three parts; here only the lowest part differs."""
    cells = np.zeros((2, 42), np.float32)
    cells[:, 0] = 1, -1
    find = jax.jit(lambda x: canonical_views.least_views(x, views("connect_four")))
    least = find(cells)
    assert least.tolist() == [[True, False], [False, True]]
