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


def test_the_module_of_a_command_never_replaces_the_function_of_its_name():
    code = """
import importlib, warnings
warnings.simplefilter("error")
import jax_ttt.train
warnings.simplefilter("default")  # of other packages
from jax_ttt import train
assert train is jax_ttt.train
print(train.__module__, importlib.import_module("jax_ttt.train").COMMAND.module)
"""
    assert printed_words(code) == ["jax_ttt.api.train", "jax_ttt.train"]


@pytest.mark.slow
def test_public_names_stay_what_they_are_when_all_modules_are_imported():
    code = """
import importlib, pkgutil
import jax_ttt
values = {name: getattr(jax_ttt, name) for name in jax_ttt.__all__}
for module in pkgutil.walk_packages(jax_ttt.__path__, "jax_ttt."):
    importlib.import_module(module.name)
print(*[name for name in values if getattr(jax_ttt, name) is not values[name]])
"""
    assert printed_words(code) == []
