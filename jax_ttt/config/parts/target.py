"""Settings of the TD target."""

import dataclasses
from collections.abc import Iterator
from typing import Annotated

from jax_ttt.config.choices import Backup
from jax_ttt.config.ranges import (
    Conflict,
    Fraction,
    Part,
    Range,
    Result,
    without_effect,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TargetSettings(Part):
    """What the value of a move should become."""

    backup: Backup = "one-ply"
    """one-ply: bootstrap from the next mover's value. two-ply (self-play only):
    bootstrap from a second head, which gives the values for the player who waits
    while the opponent replies."""
    tremble: Fraction = 0.5
    """Probability, in the TD target only, that the next mover plays a random move: from
    0 (the plain maximum) to 1. A higher one prefers moves that set traps."""
    gamma: Fraction = 1.0
    """Discount per move; its sign comes from the player to move next. 0 to 1."""
    double: bool = False
    """Double DQN: the network in training chooses the best next action, and the target
    network gives its value. With a table: two tables; each move updates one
    of them, the last move of a game both."""
    backward: bool = False
    """Play whole games, then learn from their moves, the last move first. The target
    network is updated after each move; with target_update_every N, only in every N-th
    update."""
    tau: Annotated[float, Range(float, 0, 1, above_low=True)] = 0.05
    """Weight of the new parameters in the Polyak average that gives the target network;
    above 0, at most 1."""
    target_update_every: Annotated[int, Range(int, 0, 10**9)] = 0
    """Updates between copies of the parameters to the target network, up to
    1,000,000,000. 0: the Polyak average with tau at every update instead."""
    reward_win: Result = 1.0
    """Reward of a win. -1 to 1."""
    reward_draw: Result = 0.0
    """Reward of a draw. -1 to 1; 0 in self-play, as gains and losses add up to 0."""
    reward_loss: Result = -1.0
    """Reward of a loss. -1 to 1; -reward_win in self-play."""

    def conflicts(self) -> Iterator[Conflict]:
        """Yield each field that others of the part rule out."""
        if self.double and self.backup == "two-ply":
            yield Conflict("double", "false with a two-ply backup", ("backup",))
        if self.reward_loss >= self.reward_win:
            rule = f"below {self.reward_win} (reward_win)"
            yield Conflict("reward_loss", rule, ("reward_win",))
        if self.reward_draw < self.reward_loss:
            rule = f"at least {self.reward_loss} (reward_loss)"
            yield Conflict("reward_draw", rule, ("reward_loss",))
        if self.reward_draw > self.reward_win:
            rule = f"at most {self.reward_win} (reward_win)"
            yield Conflict("reward_draw", rule, ("reward_win",))

    def unused(self) -> Iterator[Conflict]:
        """Yield each field that others of the part leave without effect."""
        if not self.gamma:
            for name in ("tremble", "double", "tau", "target_update_every"):
                yield without_effect(name, "gamma 0", "gamma")
        if self.target_update_every:
            cause = f"target_update_every {self.target_update_every}"
            yield without_effect("tau", cause, "target_update_every")
