"""The modules of the commands, and how tests run them in their own process."""

import contextlib
import dataclasses
import functools
import importlib
import io
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import pytest

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


def exit_code(module: ModuleType, words: Sequence[str], **options: Any) -> int:
    """Run a command on the streams of this process, and return its exit code.

    The options are arguments of its `main`, such as `on_step` of a training.
    """
    main = functools.partial(module.COMMAND.main, **options)
    return run_command(dataclasses.replace(module.COMMAND, main=main), words)


class Output(NamedTuple):
    """What a command printed."""

    out: str
    err: str


def run(module: ModuleType, *words: Any, code: int = 0, **options: Any) -> Output:
    """Run a command, which must end with this exit code."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        ended = exit_code(module, [*map(str, words)], **options)
    assert ended == code, err.getvalue()
    return Output(out.getvalue(), err.getvalue())


def at_step(number: int, act: Callable[[], None]) -> Callable[[Any], None]:
    """Return an `on_step` that acts before the step of this number is written.

    Steps are evaluations and chunks of updates; the first one is an evaluation.
    """
    steps = []

    def on_step(step: Any) -> None:
        steps.append(step)
        if len(steps) == number:
            act()

    return on_step


class Killed(BaseException):
    """The end of a process, as far as files are concerned."""


def run_and_kill(module: ModuleType, words: Sequence[str], number: int) -> None:
    """Run a command until the step of this number begins."""

    def kill() -> None:
        raise Killed

    with pytest.raises(Killed):
        run(module, *words, on_step=at_step(number, kill))


def refusal(module: ModuleType, *words: object) -> str:
    """Return the one line with which a command refuses its words."""
    out, err = run(module, *words, code=2)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err.removeprefix("error: ").rstrip("\n")
