"""The docstrings of fields."""

import dataclasses

from jax_ttt.config.command_line.field_texts import field_text
from jax_ttt.config.parts.target import TargetSettings


@dataclasses.dataclass
class Base:
    number: int = 1
    """A number,
    from 1 to 1,000,000,000, 3 or 4."""
    silent: int = 2


@dataclasses.dataclass
class Args(Base):
    own: int = 3
    """Its own text."""


def test_a_text_is_in_one_line_and_its_numbers_are_as_they_are_typed():
    assert field_text(Base, "number") == "A number, from 1 to 1000000000, 3 or 4."
    assert field_text(Args, "number") == field_text(Base, "number")
    assert field_text(Args, "own") == "Its own text."


def test_a_field_without_a_text_has_none():
    assert field_text(Base, "silent") == ""
    assert field_text(Base, "nonsense") == ""


def test_every_field_of_a_part_has_a_text():
    for name in TargetSettings.RULES:
        assert field_text(TargetSettings, name)
