"""Settings of the replay buffer."""

import dataclasses
from collections.abc import Iterator
from typing import Annotated

from jax_ttt.config.ranges import Conflict, Part, Range, without_effect


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplaySettings(Part):
    """The buffer of past moves to learn from again."""

    replay_capacity: Annotated[int, Range(int, 0, 2**24)] = 0
    """Moves that the buffer keeps, up to 16,777,216; new ones replace the oldest. 0: no
    buffer, each move is learned from once, when it is played."""
    replay_batch: Annotated[int, Range(int, 1, 2**20)] = 256
    """Moves sampled uniformly from the buffer in each update. 1 to 1,048,576."""
    replay_start: Annotated[int, Range(int, 0, 2**24)] = 1000
    """Moves in the buffer before learning begins; until then updates count, but nothing
    of the agent changes. 0 to 16,777,216."""

    def conflicts(self) -> Iterator[Conflict]:
        """Yield each field that others of the part rule out."""
        least = max(self.replay_batch, self.replay_start)
        if 0 < self.replay_capacity < least:
            other = "replay_batch" if least == self.replay_batch else "replay_start"
            rule = f"0 or at least {least:,} ({other})"
            yield Conflict("replay_capacity", rule, (other,))

    def unused(self) -> Iterator[Conflict]:
        """Yield each field that others of the part leave without effect."""
        if not self.replay_capacity:
            for field in ("replay_batch", "replay_start"):
                yield without_effect(field, "replay_capacity 0", "replay_capacity")
