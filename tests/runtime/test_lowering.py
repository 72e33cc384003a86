"""Kept programs are not traced again and return the same."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from jax_ttt.runtime import compiling, kept_files, lowering

SHAPES = (jax.ShapeDtypeStruct((3,), jnp.float32),) * 2


@pytest.fixture
def store(monkeypatch):
    """Keep files in a dictionary, and return it."""
    files = {}
    monkeypatch.setattr(kept_files, "read", files.get)
    monkeypatch.setattr(kept_files, "keep", files.__setitem__)
    return files


def make():
    return lambda x, y: {"sum": x + y, "pair": (x * y, x)}


def make_qr():
    return lambda x: jnp.linalg.qr(x)[0]


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


def test_another_name_is_another_program(store):
    lowering.lowered(make, SHAPES, name="a")
    with pytest.raises(AssertionError, match="traced again"):
        lowering.lowered(never, SHAPES, name="b")


def test_without_a_name_nothing_is_kept(store):
    assert run(lowering.lowered(make, SHAPES))["sum"] == [2.0, 3.0, 4.0]
    assert not store


@pytest.mark.parametrize("name", ["a", None])
def test_a_donated_argument_is_deleted(store, name):
    del store
    program = lowering.lowered(make, SHAPES, (1,), name)
    x, y = jnp.arange(3.0), jnp.full(3, 2.0)
    compiling.compiled(program, "full")(x, y)
    assert y.is_deleted()
    assert not x.is_deleted()


def test_only_a_program_that_needs_it_loads_linear_algebra(store, tmp_path):
    square = (jax.ShapeDtypeStruct((2, 2), jnp.float32),)
    lowering.lowered(make, SHAPES, name="sum")
    lowering.lowered(make_qr, square, name="qr")
    for name, data in store.items():
        (tmp_path / name).write_bytes(data)
    code = f"""
import pathlib, sys
import jax, jax.numpy as jnp
from jax_ttt.runtime import compiling, kept_files, lowering
kept_files.read = lambda name: (pathlib.Path({str(tmp_path)!r}) / name).read_bytes()
for name, args in (("sum", [jnp.ones(3)] * 2), ("qr", [jnp.eye(2)])):
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in args]
    program = lowering.lowered(None, shapes, name=name)
    found = compiling.compiled(program, "least")(*args)
    first = jax.tree.leaves(found)[0]
    print(float(jnp.abs(first).sum()), "scipy.linalg" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout == "3.0 False\n2.0 True\n"
