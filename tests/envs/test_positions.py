"""Indices of positions by symmetry."""

import numpy as np

from jax_ttt.envs import positions, stones


def test_classes_of_positions_under_the_eight_symmetries(tree):
    classes, _ = positions.first_views("tic_tac_toe")
    terminal = np.asarray(tree.terminal)
    assert len(np.unique(classes)) == 765
    assert len(np.unique(classes[~terminal])) == 627
    assert len(np.unique(classes[terminal])) == 138
    assert (classes <= np.arange(5478)).all()


def test_each_decision_is_a_view_of_its_class(host_tree):
    classes = host_tree.classes
    assert classes is not None
    boards, row, actions = classes
    assert len(boards) == 627
    assert set(boards) <= set(host_tree.decisions)
    features = np.asarray(stones.cells(host_tree.obs))
    shown = np.take_along_axis(features[boards][row], actions, axis=1)
    np.testing.assert_array_equal(shown, features[host_tree.decisions])
