"""What numbers a setting may take, and how a wrong one is refused. Imports no JAX."""

import dataclasses
import math

from jax_ttt.config.errors import SettingError


@dataclasses.dataclass(frozen=True)
class Range:
    """The numbers that a setting may take: `low` to `high`, both ends allowed."""

    type: type[int] | type[float]
    low: int | float
    high: int | float
    above_low: bool = False

    def check(self, field: str, value: object) -> None:
        """Raise `SettingError` unless `value` is of the type and in the range."""
        if not isinstance(value, (int, self.type)) or isinstance(value, bool):
            raise SettingError(field, str(self), value)
        inside = math.isfinite(value) and self.low <= value <= self.high
        if not inside or (self.above_low and value == self.low):
            raise SettingError(field, str(self), value)

    def __str__(self) -> str:
        noun = "a whole number" if self.type is int else "a number"
        if self.above_low:
            return f"{noun} above {self.low:g} and at most {self.high:,g}"
        if self.type is int:
            return f"{noun} from {self.low:,} to {self.high:,}"
        return f"{noun} from {self.low:g} to {self.high:g}"


SEED_RANGE = Range(int, 0, 2**32 - 1)


def check_seeds(first_seed: int, num_seeds: int) -> None:
    """Raise `SettingError` unless so many seeds, from the first one on, are seeds."""
    SEED_RANGE.check("first_seed", first_seed)
    most = int(SEED_RANGE.high) - num_seeds + 1
    if first_seed > most:
        rule = f"at most {most:,} with these num_seeds"
        raise SettingError("first_seed", rule, first_seed)
