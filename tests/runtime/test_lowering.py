"""Kept programs are not traced again and return the same."""

import jax
import jax.export
import jax.numpy as jnp
import pytest

from jax_ttt.runtime import compiling, kept_files, lowering

SHAPES = (jax.ShapeDtypeStruct((3,), jnp.float32),) * 2


@pytest.fixture
def store(monkeypatch):
    """Keep files in a dictionary, and return it."""
    files = {}
    monkeypatch.setattr(kept_files, "keeps", lambda: True)
    monkeypatch.setattr(kept_files, "read", files.get)
    monkeypatch.setattr(kept_files, "keep", files.__setitem__)
    return files


def make():
    return lambda x, y: {"sum": x + y, "pair": (x * y, x)}


def never():
    raise AssertionError("traced again")


def run(program):
    x, y = jnp.arange(3.0), jnp.full(3, 2.0)
    return jax.tree.map(
        lambda x: x.tolist(), compiling.compiled(program, "least")(x, y)
    )


def test_a_kept_program_is_not_traced_again(store):
    first = lowering.lowered(make, SHAPES, name="a")
    assert list(store) == ["a"]
    second = lowering.lowered(never, SHAPES, name="a")
    assert first.as_text() == second.as_text()
    assert second.out_info.keys() == {"sum", "pair"}
    expected = {"sum": [2.0, 3.0, 4.0], "pair": ([0.0, 2.0, 4.0], [0.0, 1.0, 2.0])}
    assert run(first) == run(second) == expected


@pytest.mark.parametrize("name", ["a", None])
def test_a_donated_argument_is_deleted(store, name):
    del store
    program = lowering.lowered(make, SHAPES, (1,), name)
    x, y = jnp.arange(3.0), jnp.full(3, 2.0)
    compiling.compiled(program, "full")(x, y)
    assert y.is_deleted()
    assert not x.is_deleted()
