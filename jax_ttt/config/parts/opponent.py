"""Settings of the opponent in training."""

import dataclasses
from typing import Annotated

from jax_ttt.config.catalogue import SeatSetting
from jax_ttt.config.errors import ConflictError
from jax_ttt.config.ranges import Part, Range

SELF = "self"
"""The name of the opponent in self-play."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class OpponentSettings(Part):
    """The opponent that the agent trains against, and the agent's seat."""

    opponent: str = SELF
    """self (self-play), or any player of the arena: random, minimax, blend:0.7:minimax,
    a saved agent's path and others."""
    seat: SeatSetting = "both"
    """The agent's seat against an opponent: first, second, or both (a random one in
    each game)."""
    first_move: Annotated[int | None, Range(int, 0, 2**16, optional=True)] = None
    """The first move of every training game; without this flag, the players choose it.
    Evaluations leave it to them."""

    @property
    def is_self(self) -> bool:
        """Whether the agent plays both sides."""
        return self.opponent == SELF

    @property
    def counted_player(self) -> str:
        """Whose results a run counts."""
        return {SELF: "the first player"}.get(self.opponent, "the agent")

    @property
    def pairing(self) -> str:
        """Who plays: `in self-play`, or `against` a name."""
        return {SELF: "in self-play"}.get(self.opponent, f"against {self.opponent}")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_self and self.seat != "both":
            rule = "both in self-play, where it plays both sides"
            raise ConflictError("seat", rule, self.seat)
