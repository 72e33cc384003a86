"""The examples of the public functions and of their return types run."""

import doctest
import importlib
import inspect

import pytest

import jax_ttt
from tools.make_api import TYPES

FUNCTIONS = [n for n in jax_ttt.__all__ if inspect.isfunction(getattr(jax_ttt, n))]
RETURNED = [(module, name) for module, names in TYPES.items() for name in names]


def check(found, name):
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(found, name, extraglobs={"jax_ttt": jax_ttt})
    assert test.examples, f"{name} has no example"
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch, trained_once):
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.colab
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_functions_example_runs(name):
    check(getattr(jax_ttt, name), name)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), RETURNED)
def test_a_types_example_runs(module, name):
    check(getattr(importlib.import_module(f"jax_ttt.api.{module}"), name), name)


def test_the_example_of_the_settings_runs():
    check(jax_ttt, "jax_ttt")
