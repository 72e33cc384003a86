"""The parts of the settings: a field's type is its rule."""

import dataclasses
from typing import Annotated, Literal

import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import (
    Fraction,
    Name,
    Part,
    Range,
    Switch,
    Words,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sample(Part):
    """A part with a field of each kind."""

    share: Fraction = 0.5
    depth: Annotated[int | None, Range(int, 1, 9, optional=True)] = None
    mode: Literal["fast", "slow"] = "fast"
    loud: bool = False
    title: Annotated[str, Name("a title")] = "x"


def test_a_fields_type_says_what_is_allowed():
    assert {
        "share": Range(float, 0, 1),
        "depth": Range(int, 1, 9, optional=True),
        "mode": Words(("fast", "slow")),
        "loud": Switch(),
        "title": Name("a title"),
    } == Sample.RULES


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("share", 1.5, "a number from 0 to 1"),
        ("depth", 10, "a whole number from 1 to 9"),
        ("mode", "still", "one of fast, slow"),
        ("loud", 1, "true or false"),
        ("title", "", "a title"),
    ],
)
def test_a_part_checks_each_of_its_fields(field, value, rule):
    sample = Sample()
    sample.check()
    vars(sample)[field] = value  # past the type checks that run in tests
    with pytest.raises(SettingError) as refusal:
        sample.check()
    assert str(refusal.value) == f"{field} must be {rule}, got {value!r}"
