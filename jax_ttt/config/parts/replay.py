"""Settings of the replay buffer."""

import dataclasses
from typing import Annotated

from jax_ttt.config.errors import ConflictError
from jax_ttt.config.ranges import Part, Range


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplaySettings(Part):
    """The buffer of past moves to learn from again."""

    replay_capacity: Annotated[int, Range(int, 0, 2**24)] = 0
    """Moves that the buffer keeps; new ones replace the oldest. 0: no buffer,
    each move is learned from once, when it is played."""
    replay_batch: Annotated[int, Range(int, 1, 2**20)] = 256
    """Moves sampled uniformly from the buffer in each update."""
    replay_start: Annotated[int, Range(int, 0, 2**24)] = 1000
    """Moves in the buffer before learning begins; until then updates count, but nothing
    of the agent changes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        least = max(self.replay_batch, self.replay_start)
        if 0 < self.replay_capacity < least:
            other = "replay_batch" if least == self.replay_batch else "replay_start"
            rule = f"0 or at least {least:,} ({other})"
            raise ConflictError("replay_capacity", rule, self.replay_capacity)

    def without_effect(self) -> dict[str, str]:
        """Return the fields that others leave without effect, each with its cause."""
        if self.replay_capacity:
            return {}
        return dict.fromkeys(("replay_batch", "replay_start"), "replay_capacity 0")
