"""What a setting may be, and how a wrong value is refused. Imports no JAX.

The type of a field of a `Part` says what is allowed: a range, words, a switch, a name.
"""

import dataclasses
import math
import typing
from collections.abc import Iterator
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

from jax_ttt.config.errors import SettingError

Setting: TypeAlias = str | int | float | bool | None
"""The value of a field of the settings."""


def number(kind: type[int] | type[float], text: str) -> int | float:
    """Return the number that a text stands for; raises `ValueError`."""
    # Python also reads "1_000", " 1" and the digits of all scripts.
    if not text.isascii() or set(text) & set("_ "):
        raise ValueError(text)
    return kind(text)


@dataclasses.dataclass(frozen=True)
class Range:
    """The numbers that a setting may take: `low` to `high`, both ends allowed."""

    type: type[int] | type[float]
    low: int | float
    high: int | float
    above_low: bool = False
    optional: bool = False  # None is allowed too

    def check(self, field: str, value: object) -> None:
        """Raise `SettingError` unless `value` is of the type and in the range."""
        if value is None and self.optional:
            return
        if not isinstance(value, (int, self.type)) or isinstance(value, bool):
            raise SettingError(field, str(self), value)
        inside = math.isfinite(value) and self.low <= value <= self.high
        if not inside or (self.above_low and value == self.low):
            raise SettingError(field, str(self), value)

    def parsed(self, text: str) -> int | float | None:
        """Return the number, or None, that a text stands for; raises `ValueError`."""
        return None if self.optional and text == "None" else number(self.type, text)

    def __str__(self) -> str:
        noun = "a whole number" if self.type is int else "a number"
        if self.above_low:
            return f"{noun} above {self.low:g} and at most {self.high:,g}"
        if self.type is int:
            return f"{noun} from {self.low:,} to {self.high:,}"
        return f"{noun} from {self.low:g} to {self.high:g}"


@dataclasses.dataclass(frozen=True)
class Words:
    """The words that a setting may be."""

    allowed: tuple[str, ...]

    def check(self, field: str, value: object) -> None:
        """Raise `SettingError` unless `value` is one of the words."""
        if value not in self.allowed:
            raise SettingError(field, str(self), value)

    def parsed(self, text: str) -> str:
        """Return the word; raises `ValueError` if it is none of them."""
        if text not in self.allowed:
            raise ValueError(text)
        return text

    def __str__(self) -> str:
        return f"one of {', '.join(self.allowed)}"


@dataclasses.dataclass(frozen=True)
class Switch:
    """True or false."""

    def check(self, field: str, value: object) -> None:
        """Raise `SettingError` unless `value` is a bool."""
        if not isinstance(value, bool):
            raise SettingError(field, str(self), value)

    def parsed(self, text: str) -> bool:
        """Return what `true` or `false` stands for; raises `ValueError`."""
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"

    def __str__(self) -> str:
        return "true or false"


@dataclasses.dataclass(frozen=True)
class Name:
    """A text that is not empty; `noun` says of what."""

    noun: str

    def check(self, field: str, value: object) -> None:
        """Raise `SettingError` unless `value` is a text that is not empty."""
        if not isinstance(value, str) or not value:
            raise SettingError(field, str(self), value)

    def parsed(self, text: str) -> str:
        """Return the text."""
        return text

    def __str__(self) -> str:
        return self.noun


Rule = Range | Words | Switch | Name


class Conflict(NamedTuple):
    """A field that other fields rule out: what it must be, and the other fields."""

    field: str
    rule: str
    others: tuple[str, ...]


def without_effect(field: str, cause: str, *others: str) -> Conflict:
    """Return the conflict of a field that other fields leave without effect."""
    return Conflict(field, f"left out: it has no effect with {cause}", others)


Fraction = Annotated[float, Range(float, 0, 1)]
"""A number from 0 to 1."""
Result = Annotated[float, Range(float, -1, 1)]
"""A number from -1 to 1: what a game, or a position, is worth."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """Settings that belong together; a `Config` is composed of such parts."""

    RULES: ClassVar[dict[str, Rule]] = {}
    """What each field may be, in the order of the fields."""

    def __init_subclass__(cls) -> None:
        """Read the rules from the types, once: settings are made in large numbers."""
        hints = typing.get_type_hints(cls, include_extras=True)
        cls.RULES = {field: _rule(hints[field]) for field in cls.__annotations__}

    def check(self) -> None:
        """Raise `SettingError` if a field, alone, is not allowed."""
        for field, rule in self.RULES.items():
            rule.check(field, getattr(self, field))

    def conflicts(self) -> Iterator[Conflict]:
        """Yield each field that others of the part rule out."""
        yield from ()

    def unused(self) -> Iterator[Conflict]:
        """Yield each field that others of the part leave without effect."""
        yield from ()


def _rule(hint: object) -> Rule:
    for extra in getattr(hint, "__metadata__", ()):
        if isinstance(extra, Rule):
            return extra
    if hint is bool:
        return Switch()
    return Words(typing.get_args(hint))


SEED_RANGE = Range(int, 0, 2**32 - 1)


def check_seeds(first_seed: int, num_seeds: int) -> None:
    """Raise `SettingError` unless so many seeds, from the first one on, are seeds."""
    SEED_RANGE.check("first_seed", first_seed)
    most = int(SEED_RANGE.high) - num_seeds + 1
    if first_seed > most:
        rule = f"at most {most:,} with these num_seeds"
        raise SettingError("first_seed", rule, first_seed)


NUM_GAMES = Range(int, 1, 2**20)
"""Games of a match that is played."""
NUM_GAMES_IF_ANY = Range(int, 0, NUM_GAMES.high)
"""Games of a match that may be left out."""
MAX_POSITIONS = Range(int, 1, 2**32 - 1)
"""Positions of a search: as many as have 32-bit row numbers."""
