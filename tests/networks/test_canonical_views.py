"""Boards that are views of each other have one canonical view."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.config.catalogue import GAMES
from jax_ttt.envs import stones, symmetry
from jax_ttt.networks import canonical_views

VIEWS = np.array([view.cells for view in GAMES["tic_tac_toe"].symmetries])


def views(env_id="tic_tac_toe"):
    found = symmetry.views(env_id)
    assert found is not None
    return found


def canonical_cells(cells):
    """Return the canonical boards, and what stands on the boards, of these."""
    planes = cells.reshape(-1, 3, 3, 1)
    least = canonical_views.least_views(planes, views())
    seen = canonical_views.turned(planes, views(), least).reshape(-1, 9)
    return seen, canonical_views.turned_back(seen[None], views(), least)[0]


def test_every_view_of_a_board_has_one_canonical_board(tree):
    cells = np.asarray(stones.cells(tree.obs))
    find = jax.jit(canonical_cells)

    def seen_as(cells):
        seen, back = map(np.asarray, find(cells))
        assert np.array_equal(back, cells)  # as actions are cells
        return seen

    plain = seen_as(cells)
    for view in VIEWS:
        assert np.array_equal(seen_as(cells[:, view]), plain)
    # The side to move follows from the stones: all classes, as the tree counts them.
    assert len(np.unique(plain, axis=0)) == 765


def test_a_board_of_more_cells_than_a_number_has_digits_is_compared_whole():
    """Connect Four's 42 cells: the least view is decided by the highest cell."""
    planes = jnp.zeros((2, 6, 7, 1)).at[:, 5, 0, 0].set(jnp.array([1.0, -1.0]))
    least = canonical_views.least_views(planes, views("connect_four"))
    assert least.tolist() == [[True, False], [False, True]]
