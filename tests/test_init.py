"""The package itself: its public names, and how little importing it does."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jax_ttt

SOURCE = Path(str(jax_ttt.__file__))


def in_a_process(code):
    """Return what code prints in a process of its own, as this one has imported JAX."""
    path = {"PYTHONPATH": str(SOURCE.parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | path,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_it_loads_nothing_but_itself():
    code = """
import sys
before = set(sys.modules)
import jax_ttt
print(*sorted({n.partition(".")[0] for n in set(sys.modules) - before}))
"""
    loaded = set(in_a_process(code))
    assert loaded - set(sys.stdlib_module_names) == {"jax_ttt"}


def test_settings_load_no_jax():
    code = """
import sys, jax_ttt
jax_ttt.Config, jax_ttt.PRESETS, jax_ttt.Refused, dir(jax_ttt)
print(*(name for name in ("jax", "numpy", "pgx") if name in sys.modules))
"""
    assert in_a_process(code) == []


def test_there_are_about_15_names_and_each_is_there():
    assert 13 <= len(jax_ttt.__all__) <= 17
    assert set(jax_ttt.__all__) <= set(dir(jax_ttt))
    for name in jax_ttt.__all__:
        found = getattr(jax_ttt, name)
        assert getattr(found, "__name__", name) == name


def test_type_checkers_see_the_same_names():
    (block,) = (n for n in ast.parse(SOURCE.read_text()).body if isinstance(n, ast.If))
    seen = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted(jax_ttt.__all__)
    for name, module in seen.items():
        assert getattr(importlib.import_module(str(module)), name) is getattr(
            jax_ttt, name
        )


@pytest.mark.slow
def test_the_command_does_not_hide_the_function():
    """Importing its module would: it sets the module as the package's attribute."""
    code = """
import importlib, pkgutil, sys
import jax_ttt
jax_ttt.train
for found in pkgutil.walk_packages(jax_ttt.__path__, "jax_ttt."):
    if found.name not in ("jax_ttt.train", "jax_ttt.web.__main__"):
        importlib.import_module(found.name)
assert "jax_ttt.train" not in sys.modules
print(jax_ttt.train.__module__)
"""
    assert in_a_process(code) == ["jax_ttt.api.train"]
