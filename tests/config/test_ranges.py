"""The numbers that a setting may take."""

import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import SEED_RANGE, check_seeds


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
