"""The modules of the commands, and how tests run them in their own process."""

import dataclasses
import functools
import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from jax_ttt import cli
from jax_ttt.__main__ import run_command


def module_of(command: str) -> ModuleType:
    """Return the module of a command."""
    module = importlib.import_module(f"jax_ttt.{command}")
    if hasattr(module, "__path__"):  # the command has a folder of its own
        return importlib.import_module(f"jax_ttt.{command}.__main__")
    return module


def parse(module: ModuleType, words: Sequence[str]) -> Any:
    """Return the arguments of a command."""
    return cli.parse(module.COMMAND, words)


def run(module: ModuleType, words: Sequence[str], **options: Any) -> int:
    """Run a command with these words, and return its exit code.

    The options are arguments of its `main`, such as `on_step` of a training.
    """
    main = functools.partial(module.COMMAND.main, **options)
    return run_command(dataclasses.replace(module.COMMAND, main=main), words)
