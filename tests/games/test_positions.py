"""Indices of positions: by board, and by symmetry."""

import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.games import positions, stones, symmetry


def test_classes_of_positions_under_the_eight_symmetries(host_tree):
    classes, terminal = host_tree.first_view, host_tree.terminal
    assert len(np.unique(classes)) == 765
    assert len(np.unique(classes[~terminal])) == 627
    assert len(np.unique(classes[terminal])) == 138
    assert (classes <= np.arange(5478)).all()


def test_each_decision_is_a_view_of_its_class(host_tree):
    classes = host_tree.classes
    assert classes is not None
    boards, row, actions = classes.boards, classes.row, classes.actions
    assert len(boards) == 627
    assert set(boards) <= set(host_tree.decisions)
    features = np.asarray(stones.cells(host_tree.obs))
    shown = np.take_along_axis(features[boards][row], actions, axis=1)
    np.testing.assert_array_equal(shown, features[host_tree.decisions])


def test_the_board_of_each_class_has_the_least_key_of_its_views(host_tree):
    classes, cells = host_tree.classes, stones.cells_on_host(host_tree.obs)
    assert classes is not None
    views = symmetry.views("tic_tac_toe")
    assert views is not None
    keys = symmetry.keys_on_host(cells[classes.boards][:, views.cells])
    assert (keys[:, 0] == keys.min(axis=1)).all()


def test_each_board_is_found_by_its_number(host_tree):
    cells = jnp.asarray(stones.cells(host_tree.obs))
    found = positions.index("tic_tac_toe")[np.asarray(stones.number(cells))]
    np.testing.assert_array_equal(found, np.arange(5478))


def test_views_that_are_no_symmetries_are_refused(host_tree):
    with_cells_swapped = np.array([range(9), [1, 0, *range(2, 9)]])
    views = symmetry.Views(with_cells_swapped, with_cells_swapped)
    cells = stones.cells_on_host(host_tree.obs)
    with pytest.raises(ValueError, match="not in the tree"):
        symmetry.classes_of(cells, host_tree.level_start, host_tree.decisions, views)
