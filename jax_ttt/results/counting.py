"""Counts in words."""


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, for instance `1 agent` or `20,000 updates`.

    The plural of `noun` must be `noun` and an s.
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
