"""What the parts of the settings share: the types of the fields say what is allowed."""

import dataclasses
import typing
from collections.abc import Iterator
from typing import Annotated, Any

from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import Range, Rule, Switch, Words

Fraction = Annotated[float, Range(float, 0, 1)]
"""A number from 0 to 1."""
Result = Annotated[float, Range(float, -1, 1)]
"""A number from -1 to 1: what a game, or a position, is worth."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """Settings that belong together; a `Config` is composed of such parts."""

    def check(self) -> None:
        """Raise `SettingError` if a field, alone or with the others, is not allowed."""
        for field, rule in rules(type(self)).items():
            rule.check(field, getattr(self, field))
        for field, text in self.conflicts():
            raise SettingError(field, text, getattr(self, field))

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """Yield each field that others of the part rule out, and what it must be."""
        yield from ()

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield each field without effect, and the setting that makes it useless."""
        yield from ()


def rules(part: type[Part]) -> dict[str, Rule]:
    """Return what each field of a part may be, in the order of the fields."""
    return {
        field: _rule(hint)
        for field, hint in typing.get_type_hints(part, include_extras=True).items()
    }


def _rule(hint: Any) -> Rule:  # noqa: ANN401  a type, or what stands for one
    for extra in getattr(hint, "__metadata__", ()):
        if isinstance(extra, Rule):
            return extra
    if hint is bool:
        return Switch()
    return Words(typing.get_args(hint))
