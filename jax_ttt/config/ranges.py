"""The allowed values of settings: checks, parsers and rules in words.

A setting's type, with its `Range`, is the only description of its values: `Config`
checks by it, tyro and `--grid` read texts by it, and refusals print it. Imports no JAX.
"""

import dataclasses
import functools
import typing
from typing import Annotated, Literal, TypeAlias

from tyro.constructors import PrimitiveConstructorSpec

from jax_ttt.config.errors import (
    ChoiceError,
    SettingError,
    UnknownGameError,
)
from jax_ttt.config.game_facts import GAMES, GameName

Setting: TypeAlias = str | int | float | bool | None
"""The value of a field of the settings."""


class Range(PrimitiveConstructorSpec[int | float | None]):
    """The numbers that a setting may take: `low` to `high`, both ends allowed.

    In `Annotated`, it also tells tyro how to read the field's flag.
    """

    kind: type[int] | type[float]
    low: int | float
    high: int | float
    above_low: bool
    optional: bool

    def __init__(
        self,
        kind: type[int] | type[float],
        low: int | float,
        high: int | float,
        above_low: bool = False,  # `low` itself is not allowed
        optional: bool = False,  # None is allowed too
    ) -> None:
        ends = f"{low}..{high}" if kind is int else f"{low:g}..{high:g}"
        ends = ends.replace("..", "<..") if above_low else ends
        super().__init__(
            nargs=1,
            metavar=ends,
            instance_from_str=lambda words: self.parse(words[0]),
            is_instance=lambda value: self._broken_rule(value) is None,
            str_from_instance=lambda value: [str(value)],
        )
        # The base class is frozen, so that its fields can't be assigned.
        vars(self).update(kind=kind, low=low, high=high)
        vars(self).update(above_low=above_low, optional=optional)

    def or_none(self) -> "Range":
        """Return the range of the same numbers in which None is allowed too."""
        return Range(self.kind, self.low, self.high, self.above_low, optional=True)

    def check(self, field: str, value: object) -> None:
        """Raise `SettingError` unless `value` is of the type and in the range."""
        if (rule := self._broken_rule(value)) is not None:
            raise SettingError(field, rule, value)

    def parse(self, text: str) -> int | float | None:
        """Return the number, or None, that a text stands for.

        Raises:
            ValueError: the text is not a number, or one outside the range.
        """
        if self.optional and text == "None":
            return None
        return self.parse_number(text)

    def parse_number(self, text: str) -> int | float:
        """Return the number that a text stands for; raises `ValueError`."""
        # Python would also read "1_000", " 1" and the digits of all scripts.
        if not text.isascii() or set(text) & set("_ "):
            raise ValueError(f"must be {self}, got {text!r}")
        try:
            value = self.kind(text)
        except ValueError:
            raise ValueError(f"must be {self}, got {text!r}") from None
        if self._broken_rule(value) is not None:
            raise ValueError(f"must be {self}, got {text}")
        return value

    def _broken_rule(self, value: object) -> str | None:
        """Return what the value must be, or None if it is allowed."""
        if value is None and self.optional:
            return None
        if not isinstance(value, int | self.kind) or isinstance(value, bool):
            return str(self)
        is_inside = self.low <= value <= self.high  # False for nan
        is_inside = is_inside and not (self.above_low and value == self.low)
        return None if is_inside else str(self)

    def __str__(self) -> str:
        noun = "a whole number" if self.kind is int else "a number"
        if self.above_low:
            return f"{noun} above {self.low:g} and at most {self.high:,g}"
        if self.kind is int:
            return f"{noun} from {self.low:,} to {self.high:,}"
        return f"{noun} from {self.low:g} to {self.high:g}"


Fraction = Annotated[float, Range(float, 0, 1)]
"""A number from 0 to 1."""
Reward = Annotated[float, Range(float, -1, 1)]
"""A number from -1 to 1: the value of a game or of a position."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SettingsPart:
    """Settings that belong together; a `Config` is composed of such parts.

    Raises:
        SettingError: a value is not allowed by the type of its field.
    """

    def __post_init__(self) -> None:
        for field, hint in field_types(type(self)).items():
            value = getattr(self, field)
            check_setting(field, hint, value)
            allowed = range_of(hint)
            if allowed and allowed.kind is float and isinstance(value, int):
                # As a file gives it back, so that its bytes are the same if it is saved
                # again.
                object.__setattr__(self, field, float(value))


@functools.cache
def field_types(part: type[SettingsPart]) -> dict[str, object]:
    """Return the types of a part's fields, with their ranges, in their order."""
    return typing.get_type_hints(part, include_extras=True)


def check_setting(field: str, hint: object, value: object) -> None:
    """Raise `SettingError` unless the field's type `hint` allows the value."""
    if (allowed := range_of(hint)) is not None:
        allowed.check(field, value)
    elif is_game_name(hint):
        if not isinstance(value, str) or value not in GAMES:
            raise UnknownGameError(field, tuple(GAMES), value)
    elif typing.get_origin(hint) is Literal:
        if value not in (words := typing.get_args(hint)):
            raise ChoiceError(field, words, value)
    elif hint is bool:
        if not isinstance(value, bool):
            raise SettingError(field, "true or false", value)
    elif not isinstance(value, str) or not value:
        raise SettingError(field, "a text that is not empty", value)


def parse_setting(field: str, hint: object, text: str) -> Setting:
    """Return the value that a text stands for.

    Raises:
        SettingError: the field's type `hint` does not allow it.
    """
    if (allowed := range_of(hint)) is not None:
        try:
            return allowed.parse(text)
        except ValueError:
            raise SettingError(field, str(allowed), text) from None
    value = {"true": True, "false": False}.get(text, text) if hint is bool else text
    check_setting(field, hint, value)
    return value


def range_of(hint: object) -> Range | None:
    """Return the range of a field's type, or None if it has no range."""
    extras = getattr(hint, "__metadata__", ())
    return next((extra for extra in extras if isinstance(extra, Range)), None)


def is_game_name(hint: object) -> bool:
    """Return whether a type, which may be optional, is that of the name of a game."""
    marks = getattr(hint, "__metadata__", ())
    return any(isinstance(mark, GameName) for mark in marks) or any(
        map(is_game_name, typing.get_args(hint))
    )


SEED_RANGE = Range(int, 0, 2**32 - 1)
"""Seeds: `jax.random.key` uses 32 bits of its argument."""
OPTIONAL_SEED = SEED_RANGE.or_none()


def check_seeds(first_seed: int, num_seeds: int) -> None:
    """Raise `SettingError` unless `num_seeds` seeds from `first_seed` on exist."""
    SEED_RANGE.check("first_seed", first_seed)
    high = int(SEED_RANGE.high) - num_seeds + 1
    if first_seed > high:
        rule = f"at most {high:,} with these num_seeds"
        raise SettingError("first_seed", rule, first_seed)


NUM_GAMES_RANGE = Range(int, 1, 2**20)
"""The number of games in each seat of a match."""
NUM_GAMES_OR_NONE_RANGE = Range(int, 0, 2**20)
"""The number of games in each seat of a match that can be left out, by 0."""
MAX_POSITIONS_RANGE = Range(int, 1, 2**32 - 1)
"""The number of positions of a search, whose rows have 32-bit numbers."""
