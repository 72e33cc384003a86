"""Settings of the TD target."""

import dataclasses
from typing import Annotated

from jax_ttt.config.choices import Backup
from jax_ttt.config.errors import ConflictError
from jax_ttt.config.ranges import Fraction, Part, Range, Result


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
    """Discount per move; its sign comes from the player to move next."""
    double: bool = False
    """Double DQN: the network in training chooses the best next action, and the target
    network gives its value. With a table: two tables; each move updates one
    of them, the last move of a game both."""
    backward: bool = False
    """Play whole games, then learn from their moves, the last move first. The target
    network is updated after each move; with target_update_every N, only in every N-th
    update."""
    tau: Annotated[float, Range(float, 0, 1, above_low=True)] = 0.05
    """Weight of the new parameters in the Polyak average that gives the target
    network."""
    target_update_every: Annotated[int, Range(int, 0, 10**9)] = 0
    """Updates between copies of the parameters to the target network. 0: the
    Polyak average with tau at every update instead."""
    reward_win: Result = 1.0
    """Reward of a win."""
    reward_draw: Result = 0.0
    """Reward of a draw; 0 in self-play, as gains and losses add up to 0."""
    reward_loss: Result = -1.0
    """Reward of a loss; -reward_win in self-play."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.double and self.backup == "two-ply":
            raise ConflictError("double", "false with a two-ply backup", self.double)
        if self.reward_loss >= self.reward_win:
            rule = f"below {self.reward_win} (reward_win)"
            raise ConflictError("reward_loss", rule, self.reward_loss)
        if self.reward_draw < self.reward_loss:
            rule = f"at least {self.reward_loss} (reward_loss)"
            raise ConflictError("reward_draw", rule, self.reward_draw)
        if self.reward_draw > self.reward_win:
            rule = f"at most {self.reward_win} (reward_win)"
            raise ConflictError("reward_draw", rule, self.reward_draw)

    def without_effect(self) -> dict[str, str]:
        """Return the fields that others leave without effect, each with its cause."""
        causes: dict[str, str] = {}
        if self.target_update_every:
            causes["tau"] = f"target_update_every {self.target_update_every}"
        if not self.gamma:
            names = ("tremble", "double", "tau", "target_update_every")
            causes |= dict.fromkeys(names, "gamma 0")
        return causes
