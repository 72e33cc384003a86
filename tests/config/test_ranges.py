"""The values that a setting may take."""

from typing import Annotated

import pytest
from msgspec import Meta

from jax_ttt.config import ranges
from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import check_seeds

WHOLE = Annotated[int, Meta(ge=1, le=20)]
FRACTION = Annotated[float, Meta(gt=0, le=1)]


def test_seeds_have_32_bits():
    check_seeds(0, 1)
    check_seeds(2**32 - 8, 8)
    for first_seed, num_seeds, rule in (
        (-1, 1, "a whole number from 0 to 4,294,967,295"),
        (True, 1, "a whole number from 0 to 4,294,967,295"),
        (2**32 - 7, 8, "at most 4,294,967,288"),
    ):
        with pytest.raises(SettingError, match=f"^first_seed must be {rule}"):
            check_seeds(first_seed, num_seeds)


def test_a_number_is_read_as_people_write_it():
    assert ranges.parse_value("games", WHOLE, "20") == 20
    assert ranges.parse_value("games", WHOLE | None, "None") is None
    for text in ("1e-3", ".001", "+0.001"):
        assert ranges.parse_value("tau", FRACTION, text) == 0.001
    for text in ("0", "21", "1.0", "1_0", " 1", "\u0663", "None", ""):
        with pytest.raises(SettingError, match="must be a whole number from 1 to 20"):
            ranges.parse_value("games", WHOLE, text)
    for text in ("0", "1.5", "nan", "inf", "x"):
        with pytest.raises(SettingError, match="must be a number above 0 and at most"):
            ranges.parse_value("tau", FRACTION, text)


def test_a_refusal_names_the_field_in_python_and_the_flag_on_the_command_line():
    with pytest.raises(SettingError) as refusal:
        ranges.check_value("num_envs", WHOLE, 0)
    rule = " must be a whole number from 1 to 20, got 0"
    assert str(refusal.value) == f"num_envs{rule}"
    assert refusal.value.args == (f"--num-envs{rule}",)
