"""The numbers that a setting may take."""

import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import Range, check_seeds


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
    whole, fraction = Range(int, 1, 20), Range(float, 0, 1, above_low=True)
    assert (whole.parse("20"), fraction.parse("1e-3")) == (20, 0.001)
    assert whole.or_none().parse("None") is None
    for text in ("0", "21", "1.0", "1_0", " 1", "\u0663", "None", ""):
        with pytest.raises(ValueError, match="must be a whole number from 1 to 20"):
            whole.parse(text)
    for text in ("0", "1.5", "nan", "inf", "x"):
        with pytest.raises(ValueError, match="must be a number above 0 and at most 1"):
            fraction.parse(text)


def test_a_refusal_names_the_field_in_python_and_the_flag_on_the_command_line():
    with pytest.raises(SettingError) as refusal:
        Range(int, 1, 20).check("num_envs", 0)
    rule = " must be a whole number from 1 to 20, got 0"
    assert str(refusal.value) == f"num_envs{rule}"
    assert refusal.value.args == (f"--num-envs{rule}",)
