"""Settings of exploration."""

import dataclasses
from collections.abc import Iterator
from typing import Annotated

from jax_ttt.config.choices import EpsilonSchedule
from jax_ttt.config.ranges import (
    Conflict,
    Fraction,
    Part,
    Range,
    without_effect,
)

_ENDS = ("epsilon_start", "epsilon_end")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExplorationSettings(Part):
    """Epsilon, the share of random moves while training."""

    epsilon_start: Fraction = 1.0
    """Share of random moves at the first update. 0 to 1."""
    epsilon_end: Fraction = 0.5
    """Lowest share of random moves; linear reaches it at the last update. 0 to
    epsilon_start."""
    epsilon_schedule: EpsilonSchedule = "linear"
    """Epsilon's schedule: linear; steps (minus epsilon_decay after each tenth of the
    updates); exponential (times epsilon_decay after each finished game)."""
    epsilon_decay: Fraction = 0.1
    """Step size (steps) or factor (exponential), 0 to 1; unused with linear."""
    random_opening: Annotated[int, Range(int, 0, 1000)] = 0
    """Most random moves at the start of a game, learned from too: three of four games
    have 0 to this many. 0 to 1,000."""

    def conflicts(self) -> Iterator[Conflict]:
        """Yield each field that others of the part rule out."""
        if self.epsilon_end > self.epsilon_start:
            rule = f"at most {self.epsilon_start} (epsilon_start)"
            yield Conflict("epsilon_end", rule, ("epsilon_start",))

    def unused(self) -> Iterator[Conflict]:
        """Yield each field that others of the part leave without effect."""
        if self.epsilon_schedule == "linear":
            cause = "epsilon_schedule linear"
            yield without_effect("epsilon_decay", cause, "epsilon_schedule")
        if self.epsilon_start == self.epsilon_end:
            cause = "epsilon_end equal to epsilon_start"
            yield without_effect("epsilon_schedule", cause, *_ENDS)
            yield without_effect("epsilon_decay", cause, *_ENDS)
