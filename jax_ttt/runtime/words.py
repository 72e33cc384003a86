"""Counts and lists in words."""

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
