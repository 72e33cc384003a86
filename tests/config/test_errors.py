"""Refusals: one base class, and messages that name the field, the rule, the value."""

import pytest

from jax_ttt.config import errors
from jax_ttt.config.errors import Refused, SettingError


def test_a_setting_is_refused_with_its_rule_and_its_value():
    error = SettingError("tau", "a number above 0", "x")
    assert (error.field, error.rule) == ("tau", "a number above 0")
    assert error.value == "x"
    assert str(error) == "tau must be a number above 0, got 'x'"


@pytest.mark.parametrize("name", ["SettingError", "PlayerError", "UsageError"])
def test_whatever_is_refused_is_caught_as_one(name):
    assert issubclass(getattr(errors, name), Refused)
