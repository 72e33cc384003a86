"""Pytrees to flat dictionaries, and back."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players.network import network_of
from jax_ttt.runtime import named_arrays


class Pair(NamedTuple):
    first: Any
    second: Any


TREE = Pair({"a": jnp.arange(3), "b": (jnp.zeros(2), jnp.ones(()))}, jax.random.key(7))


def test_the_weights_of_a_network_have_the_names_of_the_file():
    network = network_of(Config.of(hidden_size=4, hidden_layers=1).architecture)
    params = q_network.init_params(network, jax.random.key(0))
    layers = [
        f"layers.layers.{i}.{part}" for i in (0, 2) for part in ("bias", "kernel")
    ]
    assert list(named_arrays.flat(params)) == layers


def test_a_pytree_is_restored_from_its_leaves_and_shapes():
    like = jax.eval_shape(lambda: TREE)
    found = named_arrays.unflat(named_arrays.flat(TREE), like)
    assert jax.tree.structure(found) == jax.tree.structure(TREE)
    assert (jax.random.bits(found.second) == jax.random.bits(TREE.second)).all()
    assert found.first["a"].tolist() == [0, 1, 2]


def test_a_missing_leaf_is_an_error():
    flat = named_arrays.flat(TREE)
    del flat["first.b.1"]
    with pytest.raises(KeyError, match=r"first\.b\.1"):
        named_arrays.unflat(flat, TREE)


def test_two_leaves_of_one_name_are_an_error():
    with pytest.raises(ValueError, match="same path"):
        named_arrays.flat({"a": {"b": np.zeros(1)}, "a.b": np.zeros(1)})


ARRAYS = {"a": np.arange(6.0).reshape(3, 2), "b": np.zeros(4), "c": np.eye(3)[1]}


def test_a_stack_gives_back_each_item_without_the_rows_that_are_blank_in_all():
    other = {"a": ARRAYS["a"] + 1, "b": np.zeros(4), "c": np.eye(3)[2]}
    stack = named_arrays.stacked([ARRAYS, other], np.float64(0))
    assert {name: leaf.shape for name, leaf in stack.items()} == {
        **{"a": (2, 3, 2), "b": (2, 0), "b.rows": (4,)},
        **{"c": (2, 2), "c.rows": (3,)},
    }
    assert stack["c.rows"].tolist() == [False, True, True]
    shapes = named_arrays.item_shapes(stack, np.float64, 2)
    assert shapes == {name: leaf.shape for name, leaf in ARRAYS.items()}
    assert named_arrays.has_its_rows(stack)
    for place, item in enumerate((ARRAYS, other)):
        found = named_arrays.one_of_stack(stack, place, np.float64(0))
        assert found.keys() == item.keys()
        for name, leaf in item.items():
            np.testing.assert_array_equal(found[name], leaf)


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({}, 2),
        ({"a": ARRAYS["a"][None].astype(np.float32)}, 1),
        ({"a": np.zeros(1)}, 1),
        ({"c.rows": np.array([[True]])}, 1),
        ({"c.rows": np.array([])}, 1),
        ({"c.rows": np.zeros(0, bool)}, 1),
        ({"d.rows": np.array([True])}, 1),
    ],
)
def test_arrays_of_other_shapes_are_no_stack(changes, number):
    stack = named_arrays.stacked([ARRAYS], np.float64(0))
    assert named_arrays.item_shapes(stack, np.float64, 1)
    assert named_arrays.item_shapes(stack | changes, np.float64, number) is None
