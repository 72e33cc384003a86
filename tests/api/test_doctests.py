"""The examples of the public functions and of their return types run."""

import doctest
import inspect

import pytest

import jax_ttt
from jax_ttt.files.picture_file import Picture

FUNCTIONS = [n for n in jax_ttt.__all__ if inspect.isfunction(getattr(jax_ttt, n))]
RETURNED = dict.fromkeys(
    inspect.signature(getattr(jax_ttt, name)).return_annotation for name in FUNCTIONS
)
TYPES = [
    type_
    for type_ in RETURNED
    if getattr(type_, "__module__", "").startswith("jax_ttt.")
    and type_ is not Picture  # it has no example
]


def check(documented, name):
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(documented, name, extraglobs={"jax_ttt": jax_ttt})
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
@pytest.mark.parametrize("type_", TYPES, ids=lambda type_: type_.__name__)
def test_a_types_example_runs(type_):
    check(type_, type_.__name__)


def test_the_example_of_the_settings_runs():
    check(jax_ttt, "jax_ttt")
