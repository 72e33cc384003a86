"""Kept programs are not traced again and return the same."""

import subprocess
import sys

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


def test_a_kept_program_loads_no_library_of_linear_algebra(store, tmp_path):
    lowering.lowered(make, SHAPES, name="a")
    path = tmp_path / "a"
    path.write_bytes(store["a"])
    code = f"""
import pathlib, sys
import jax, jax.numpy as jnp
from jax_ttt.runtime import compiling, kept_files, lowering
kept_files.read = lambda name: pathlib.Path({str(path)!r}).read_bytes()
shape = jax.ShapeDtypeStruct((3,), jnp.float32)
program = lowering.lowered(None, [shape] * 2, name="a")
found = compiling.compiled(program, "least")(jnp.ones(3), jnp.ones(3))
print(found["sum"].tolist(), "scipy.linalg" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout == "[2.0, 2.0, 2.0] False\n"


def test_a_program_of_linear_algebra_stays_as_it_is():
    square = jax.ShapeDtypeStruct((2, 2), jnp.float32)
    programs = (lambda x: x + 1, lambda x: jnp.linalg.qr(x)[0])
    plain, calling = (
        jax.export.export(jax.jit(program), platforms=["cpu"])(square)
        for program in programs
    )
    assert "cpu" not in lowering._without_lapack(plain).platforms
    assert lowering._without_lapack(calling) is calling
