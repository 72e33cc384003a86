"""Counts, lists and wrong arguments as text."""

import os
from collections.abc import Sequence


def count_phrase(number: int, noun: str) -> str:
    """Return a number with its noun, for instance `1 agent` or `20,000 updates`.

    The plural of `noun` must be `noun` with an s.
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def list_phrase(items: Sequence[object], word: str = "and") -> str:
    """Return at least one item as a list, for instance `0, 2 and 6`."""
    *first_items, last_item = map(str, items)
    if not first_items:
        return last_item
    return f"{', '.join(first_items)} {word} {last_item}"


def argument_phrase(argument: object) -> str:
    """Return a wrong argument for a message: `'minimax'`, `3`, `a Match`."""
    if argument is None or isinstance(argument, str | int | float | os.PathLike):
        return repr(argument)
    if isinstance(argument, type):
        return f"the class {argument.__name__}"
    name = type(argument).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
