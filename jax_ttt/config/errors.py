"""What the program refuses: a message for the user, no traceback. Imports no JAX."""

import difflib
from collections.abc import Iterable


class Refused(ValueError):  # noqa: N818  what it says to a user
    """Something was asked for that is not possible; the message says what is."""


class SettingError(Refused):
    """A setting or flag that is not allowed: names it, the rule and the value.

    The text has its name in Python; `args[0]`, which tyro shows, has its flag.
    """

    def __init__(self, field: str, rule: str, value: object) -> None:
        self._said = f" must be {rule}, got {value!r}"
        super().__init__(flag_name(field) + self._said)
        self.field, self.rule, self.value = field, rule, value

    def __str__(self) -> str:
        return self.field + self._said


class ConflictError(SettingError):
    """A setting that others rule out, which may come from a preset."""


class PlayerError(Refused):
    """A name that is no usable player's; the message says why."""


class MoveError(Refused):
    """A move that is not possible; the message says why."""


class GameError(Refused):
    """Something that is not possible in this game; the message says what."""


class UsageError(Refused):
    """A command line that can't be followed; the message says why."""


def flag_name(field: str) -> str:
    """Return the flag that sets a field, for instance `--num-envs`."""
    return "--" + field.replace("_", "-")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...?` with the most similar word; "" if none is."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
