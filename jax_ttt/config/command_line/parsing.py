"""The reading of a command line, and of its mistakes. Imports no JAX."""

import contextlib
import dataclasses
import inspect
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TypeVar

import tyro

from jax_ttt.config.command_line import arguments, boxes, wrong_words
from jax_ttt.config.command_line.arguments import Argument
from jax_ttt.config.command_line.examples import examples
from jax_ttt.config.errors import UsageError
from jax_ttt.config.settings import PARTS, Parts

ArgsT = TypeVar("ArgsT")


def parse(
    args_type: type[ArgsT],
    argv: Sequence[str] | None,
    prog: str,
    defaults: ArgsT | None = None,
    description: str | None = None,
) -> ArgsT:
    """Return the arguments, those of `defaults` where a flag is not given.

    `description` is what `--help` begins with, by default the type's docstring.
    `--help` ends the program.

    Raises:
        UsageError: a flag or a value can't be read.
    """
    found = arguments.arguments(args_type, defaults)
    given = words(argv)
    asks = bool({"-h", "--help"} & set(given))
    typed = sys.argv[1:] if argv is None else argv
    # The parser takes a while to load, and says less of what is wrong.
    for wrong in () if asks else wrong_words.mistakes(prog, found, typed):
        raise UsageError(wrong)
    printed = _Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        values, unknown = _parsed(found, given, asks)
        if asks and values is not None:  # after "--", it is a positional value
            values, unknown = _parsed(found, given, asks=False)
    if values is None and asks:
        head = [_wrapped(description or args_type.__doc__ or ""), examples(prog)]
        text = printed.text().partition("\n")[2].replace(boxes.UNBROKEN, " ")
        print(*head, _usage(prog, found), sep="\n\n")
        print(text, end="")
        raise SystemExit(0)
    if values is None or unknown:
        wrong = [wrong_words.unexpected(prog, found, word) for word in unknown]
        wrong += wrong_words.left_out(prog, found, given)
        raise UsageError(wrong[0] if wrong else _in_a_line(printed.text()))
    usual = {name: argument.default for name, argument in found.items()}
    return args_type(**_fields(args_type, usual | values, defaults))


def _used(found: dict[str, Argument], given: list[str]) -> dict[str, Argument]:
    """Return the arguments that must be parsed; each takes 0.2 ms."""
    flags = {word.partition("=")[0].replace("_", "-") for word in given}
    named = {a.name for flag, a in wrong_words.flags(found).items() if flag in flags}
    return {
        n: a for n, a in found.items() if n in named or a.is_needed or a.is_positional
    }


def _parsed(
    found: dict[str, Argument], given: list[str], asks: bool
) -> tuple[dict[str, object] | None, list[str]]:
    """Return the values, and the words that are none; no values for help, or refused.

    The parser prints why.
    """
    if asks:
        tyro.extras.set_accent_color("cyan")  # white frames are unseen on white
    try:
        return tyro.cli(
            boxes.help_type(found) if asks else boxes.parser_type(_used(found, given)),
            args=given,
            description="",  # printed before
            config=(tyro.conf.OmitArgPrefixes,),
            registry=boxes.REGISTRY,
            return_unknown_args=True,
        )
    except SystemExit:
        return None, []


def _usage(prog: str, found: dict[str, Argument]) -> str:
    named = [a.shown for a in found.values() if a.is_positional]
    return " ".join([f"usage: python -m jax_ttt.{prog} [-h] [OPTIONS]", *named])


class _Printed(io.TextIOWrapper):
    """What the parser prints, in the way that fits standard output."""

    def __init__(self) -> None:
        # The encoding decides on the frames.
        super().__init__(io.BytesIO(), sys.stdout.encoding, sys.stdout.errors)
        # tyro itself ignores NO_COLOR.
        self._coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def isatty(self) -> bool:
        """Return whether the parser may print colours."""
        return self._coloured

    def text(self) -> str:
        """Return what has been printed."""
        self.seek(0)
        return self.read()


def words(argv: Sequence[str] | None) -> list[str]:
    """Return the words of the command line, `--flag=value` as two."""
    given = sys.argv[1:] if argv is None else argv
    pairs = [w.split("=", 1) if w.startswith("--") else [w] for w in given]
    return [part for pair in pairs for part in pair]


def _in_a_line(text: str) -> str:
    """Return the words of a message that the parser has framed."""
    return " ".join(re.sub("[─│╭╮╰╯]", " ", text).split())


def _fields(
    args_type: type, values: dict[str, object], defaults: object
) -> dict[str, object]:
    """Return the fields of a command's class, of the values of its arguments."""
    hidden = {f.name for f in dataclasses.fields(args_type)} - values.keys()
    found = {n: getattr(defaults, n) for n in hidden if hasattr(defaults, n)}
    for part, type_ in PARTS.items() if issubclass(args_type, Parts) else ():
        found[part] = type_(**{name: values.pop(name) for name in type_.RULES})
    return found | values


def _wrapped(text: str) -> str:
    """Return a text's paragraphs as wide as the terminal; indented lines stay."""
    width = shutil.get_terminal_size().columns
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        part if "\n  " in part else textwrap.fill(part, width, break_on_hyphens=False)
        for part in paragraphs
    )
