"""The modules of the commands, which the package itself runs and never imports."""

import importlib
from types import ModuleType

import jax_ttt


def module_of(command: str) -> ModuleType:
    """Return the module of a command; `jax_ttt.train` stays the function."""
    module = importlib.import_module(f"jax_ttt.{command}")
    if command in jax_ttt.__all__ and vars(jax_ttt).get(command) is module:
        delattr(jax_ttt, command)
    if hasattr(module, "__path__"):  # the command has a folder of its own
        return importlib.import_module(f"jax_ttt.{command}.__main__")
    return module
