"""Counts, lists and wrong arguments in words."""

import os
from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, for instance `1 agent` or `20,000 updates`.

    The plural of `noun` must be `noun` and an s.
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def joined(things: Sequence[object], word: str = "and") -> str:
    """Return one thing or several as a list in words, for instance `0, 2 and 6`."""
    *rest, last = map(str, things)
    return f"{', '.join(rest)} {word} {last}" if rest else last


def in_words(thing: object) -> str:
    """Return a wrong argument in one line: `'minimax'`, `3`, `a Match`."""
    if thing is None or isinstance(thing, str | int | float | os.PathLike):
        return repr(thing)
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    name = type(thing).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
