"""Settings of the run as a whole."""

import dataclasses
from typing import Annotated

from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.ranges import Fraction, Part, Range


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSettings(Part):
    """The game, and how much of it is played."""

    env_id: EnvId = catalogue.DEFAULT
    """The PGX game to learn."""
    num_envs: Annotated[int, Range(int, 1, 2**20)] = 256
    """Games played at once. Each update plays one move in each of them."""
    num_updates: Annotated[int, Range(int, 1, 10**9)] = 1000
    """Updates, one gradient step each. The schedules of epsilon
    and of the learning rate end with the last one."""
    lockstep: bool = False
    """Restart all games together after the last one has ended, as J. Antognini's
    program does."""
    start_share: Fraction = 0.0
    """Share of the new games that start at counterexamples: the positions on
    lines of play that beat the agent, in which it had several moves. Each evaluation
    then finds them among all positions that the agent reaches; those of the latest
    evaluations are kept. Only in self-play, in games of stones without a tree."""

    @property
    def can_be_proven(self) -> bool:
        """Whether evaluations during the run can prove the agent unbeatable."""
        return catalogue.GAMES[self.env_id].enumerable or self.start_share > 0

    def without_effect(self) -> dict[str, str]:
        """Return the fields that others leave without effect, each with its cause."""
        return {"lockstep": "num_envs 1"} if self.num_envs == 1 else {}
