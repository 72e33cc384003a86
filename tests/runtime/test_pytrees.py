"""Pytrees as arrays by name, and back."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from flax import nnx

from jax_ttt.runtime import pytrees


class Pair(NamedTuple):
    left: Any
    right: Any


def test_names_are_paths_and_a_flax_variable_adds_nothing_to_them():
    params = nnx.State({"layers": {0: {"kernel": nnx.Param(np.arange(2))}}})
    tree = Pair({"a": [np.float32(1), np.float32(2)]}, params)
    leaves = pytrees.leaves_by_name(tree)
    assert list(leaves) == ["left.a.0", "left.a.1", "right.layers.0.kernel"]
    assert leaves["right.layers.0.kernel"].tolist() == [0, 1]


def test_leaves_that_do_not_fit_and_two_of_one_name_are_refused():
    like, leaf = Pair(np.zeros(1), None), np.zeros(1)
    for leaves, message in (
        ({}, "left is missing"),
        ({"left": leaf, "x": leaf}, "it has no x"),
        ({"left": np.zeros(2)}, r"left is float64 \(2,\), not float64 \(1,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            pytrees.with_leaves(like, leaves)
    with pytest.raises(ValueError, match="two leaves have the same name"):
        pytrees.leaves_by_name({"a": {"b": np.zeros(1)}, "a.b": np.zeros(1)})
