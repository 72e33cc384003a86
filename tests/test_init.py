"""The package itself: its public names, and how little importing it loads."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import as_users
import pytest

import jax_ttt


def printed_words(code):
    """Return what code prints in a process of its own, as this one has imported JAX."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=as_users.environment(),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_package_and_its_settings_load_no_jax():
    code = """
import sys
before = set(sys.modules)
import jax_ttt
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
jax_ttt.Config, jax_ttt.PRESETS, jax_ttt.Refused, dir(jax_ttt)
assert not {"jax", "numpy", "pgx"} & sys.modules.keys()
"""
    assert {*printed_words(code)} - {*sys.stdlib_module_names} == {"jax_ttt"}


def test_programs_and_type_checkers_see_the_same_names():
    tree = ast.parse(Path(str(jax_ttt.__file__)).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    modules = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(modules) == sorted(jax_ttt.__all__)
    assert {*jax_ttt.__all__} <= {*dir(jax_ttt)}
    for name, module in modules.items():
        value = getattr(importlib.import_module(str(module)), name)
        assert getattr(jax_ttt, name) is value


@pytest.mark.slow
def test_no_module_imports_a_command_which_would_hide_the_function_of_its_name():
    code = """
import importlib, pkgutil, sys
import jax_ttt
jax_ttt.train
for module in pkgutil.walk_packages(jax_ttt.__path__, "jax_ttt."):
    if module.name not in ("jax_ttt.train", "jax_ttt.web.__main__"):
        importlib.import_module(module.name)
assert "jax_ttt.train" not in sys.modules
print(jax_ttt.train.__module__)
"""
    assert printed_words(code) == ["jax_ttt.api.train"]
