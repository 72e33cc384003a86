"""Settings of exploration."""

import dataclasses
from typing import Annotated

from jax_ttt.config.choices import EpsilonSchedule
from jax_ttt.config.errors import ConflictError
from jax_ttt.config.ranges import Fraction, Part, Range


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExplorationSettings(Part):
    """Epsilon, the share of random moves while training."""

    epsilon_start: Fraction = 1.0
    """Share of random moves at the first update."""
    epsilon_end: Fraction = 0.5
    """Lowest share of random moves; linear reaches it at the last update. At
    most epsilon_start."""
    epsilon_schedule: EpsilonSchedule = "linear"
    """Epsilon's schedule: linear; steps (minus epsilon_decay after each tenth of the
    updates); exponential (times epsilon_decay after each finished game)."""
    epsilon_decay: Fraction = 0.1
    """Step size (steps) or factor (exponential); unused with linear."""
    random_opening: Annotated[int, Range(int, 0, 1000)] = 0
    """Most random moves at the start of a game, learned from too: three of four games
    have 0 to this many."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon_end > self.epsilon_start:
            rule = f"at most {self.epsilon_start} (epsilon_start)"
            raise ConflictError("epsilon_end", rule, self.epsilon_end)

    def without_effect(self) -> dict[str, str]:
        """Return the fields that others leave without effect, each with its cause."""
        if self.epsilon_start == self.epsilon_end:
            cause = "epsilon_end equal to epsilon_start"
            return dict.fromkeys(("epsilon_schedule", "epsilon_decay"), cause)
        if self.epsilon_schedule == "linear":
            return {"epsilon_decay": "epsilon_schedule linear"}
        return {}
