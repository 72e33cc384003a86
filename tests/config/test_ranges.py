"""The numbers that a setting may take."""

import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import SEED_RANGE, Range, check_seeds


@pytest.mark.parametrize(
    ("seed", "allowed"),
    [(0, True), (2**32 - 1, True), (-1, False), (2**32, False), (True, False)],
)
def test_a_seed_has_32_bits(seed, allowed):
    if allowed:
        return SEED_RANGE.check("seed", seed)
    with pytest.raises(SettingError, match=r"^seed must be a whole number from 0 to 4"):
        SEED_RANGE.check("seed", seed)


def test_the_last_of_many_seeds_has_32_bits_too():
    check_seeds(2**32 - 8, 8)
    with pytest.raises(SettingError, match="first_seed must be at most 4,294,967,288"):
        check_seeds(2**32 - 7, 8)


def test_a_number_is_read_as_people_write_it():
    whole, part = Range(int, 1, 20), Range(float, 0, 1, above_low=True)
    assert (whole.parsed("20"), part.parsed("1e-3")) == (20, 0.001)
    assert whole.or_none().parsed("None") is None
    for text in ("0", "21", "1.0", "1_0", " 1", "\u0663", "None", ""):
        with pytest.raises(ValueError, match="must be a whole number from 1 to 20"):
            whole.parsed(text)
    for text in ("0", "1.5", "nan", "inf", "x"):
        with pytest.raises(ValueError, match="must be a number above 0 and at most 1"):
            part.parsed(text)


def test_a_refusal_names_the_flag_on_the_command_line():
    with pytest.raises(SettingError) as refusal:
        Range(int, 1, 20).check("num_envs", 0)
    said = " must be a whole number from 1 to 20, got 0"
    assert str(refusal.value) == f"num_envs{said}"
    assert refusal.value.args == (f"--num-envs{said}",)
