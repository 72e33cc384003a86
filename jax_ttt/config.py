"""What stays fixed during a run.

Imports no JAX, so that bad settings are refused in a blink.
"""

import dataclasses
import math
from typing import Any, Literal, get_args

EnvId = Literal[
    "tic_tac_toe",
    "connect_four",
    "othello",
    "hex",
    "animal_shogi",
    "gardner_chess",
    "go_9x9",
]
Network = Literal["mlp", "table"]
Activation = Literal["relu", "tanh", "sigmoid"]
Optimizer = Literal["adamw", "sgd"]
Loss = Literal["huber", "mse"]
ENUMERABLE: tuple[EnvId, ...] = ("tic_tac_toe",)
"""Games whose whole tree is small enough to walk: the ones where a proof can be had."""


class SettingError(ValueError):
    """A setting outside its range: names the field, the rule and the value."""

    def __init__(self, field: str, rule: str, value: object) -> None:
        self.field, self.rule, self.value = field, rule, value
        super().__init__(f"{field} must be {rule}, got {value!r}")


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


_FRACTION = Range(float, 0, 1)
_RANGES = {
    "num_envs": Range(int, 1, 2**20),
    "num_updates": Range(int, 1, 10**9),
    "learning_rate": Range(float, 0, 1000, above_low=True),
    "learning_rate_end": Range(float, 0, 1000),
    "weight_decay": Range(float, 0, 1),
    "epsilon_start": _FRACTION,
    "epsilon_end": _FRACTION,
    "tau": Range(float, 0, 1, above_low=True),
    "gamma": _FRACTION,
    "target_update_every": Range(int, 0, 10**9),
    "tremble": _FRACTION,
    "initial_value": Range(float, -1, 1),
    "hidden_size": Range(int, 1, 2**14),
    "hidden_layers": Range(int, 0, 16),
    "eval_every": Range(int, 1, 10**9),
    "eval_games": Range(int, 0, 2**20),
}
_CHOICES = {
    "env_id": get_args(EnvId),
    "network": get_args(Network),
    "activation": get_args(Activation),
    "optimizer": get_args(Optimizer),
    "loss": get_args(Loss),
}
SEED_RANGE = Range(int, 0, 2**32 - 1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Every setting of a run but its seed, which is data: seeds share one program.

    Raises:
        SettingError: a field is outside its range; the message names the field,
            what is allowed and the value.
    """

    env_id: EnvId = "tic_tac_toe"
    """The PGX game to learn."""
    num_envs: int = 256
    """Games played at once, 1 to 1,048,576;
    each update learns from one move of each."""
    num_updates: int = 1000
    """Gradient steps, 1 to 1,000,000,000;
    the two schedules end with the last of them."""
    learning_rate: float = 4e-3
    """Step size at the first update; above 0, at most 1,000.
    Of a table: the share of the error that a visit takes away, often called alpha."""
    learning_rate_end: float = 0.0
    """Step size at the last update; linear in between; from 0 to learning_rate."""
    weight_decay: float = 0.0
    """AdamW's pull of the weights towards 0. 0 to 1."""
    epsilon_start: float = 1.0
    """Share of random moves at the first update. 0 to 1."""
    epsilon_end: float = 0.5
    """Share of random moves at the last update; linear in between;
    from 0 to epsilon_start."""
    tau: float = 0.05
    """Weight of the new params in the Polyak average that gives the target net;
    above 0, at most 1."""
    gamma: float = 1.0
    """Discount per move; its sign comes from the player to move next. 0 to 1."""
    double: bool = False
    """Double DQN: the learning net chooses the best next action, the target net
    says what it is worth."""
    target_update_every: int = 0
    """Updates between copies of the net to the target net, up to 1,000,000,000;
    0 for the Polyak average with tau at every update."""
    tremble: float = 0.5
    """How often the next mover is thought to play at random in the TD target,
    from 0 (the plain maximum) to 1; more prefers moves that set traps."""
    canonical: bool = True
    """Show boards that are turned or mirrored copies of each other as one;
    no effect in games whose symmetries are not listed."""
    lockstep: bool = False
    """Restart all games together, when the last one has ended, as the article does."""
    network: Network = "mlp"
    """A multilayer perceptron, or a table with an entry for each board and action,
    for games that can be walked."""
    initial_value: float = 0.0
    """What a table says of a board never met. -1 to 1."""
    hidden_size: int = 128
    """Neurons in each hidden layer. 1 to 16,384."""
    hidden_layers: int = 2
    """Hidden layers. 0 (a linear function) to 16."""
    activation: Activation = "relu"
    """What each hidden layer ends with."""
    optimizer: Optimizer = "adamw"
    """How the gradient moves the weights; sgd is the plain step, without decay."""
    loss: Loss = "huber"
    """What the error of a value costs: its square (mse, halved),
    or beyond an error of 1 its size (huber)."""
    eval_every: int = 100
    """Updates between evaluations. 1 to 1,000,000,000."""
    eval_games: int = 1024
    """Games of each evaluation's sampled match against random;
    from 0 (none) to 1,048,576."""

    def __post_init__(self) -> None:
        for field, allowed in _CHOICES.items():
            if getattr(self, field) not in allowed:
                rule = f"one of {', '.join(allowed)}"
                raise SettingError(field, rule, getattr(self, field))
        for field, allowed in _RANGES.items():
            allowed.check(field, getattr(self, field))
        if self.epsilon_end > self.epsilon_start:
            rule = f"at most {self.epsilon_start} (epsilon_start)"
            raise SettingError("epsilon_end", rule, self.epsilon_end)
        if self.learning_rate_end > self.learning_rate:
            rule = f"at most {self.learning_rate} (learning_rate)"
            raise SettingError("learning_rate_end", rule, self.learning_rate_end)
        if self.network == "table" and self.env_id not in ENUMERABLE:
            rule = f"mlp in {self.env_id}: too many boards for a table"
            raise SettingError("network", rule, self.network)
        if self.optimizer == "sgd" and self.weight_decay:
            raise SettingError("weight_decay", "0 with sgd", self.weight_decay)
        for field in ("double", "canonical", "lockstep"):
            if not isinstance(getattr(self, field), bool):
                raise SettingError(field, "true or false", getattr(self, field))


def from_dict(fields: dict[str, Any]) -> Config:
    """Return the `Config` with these fields, as `dataclasses.asdict` gives them.

    A field that is missing, in a file from before it was there, has its default.

    Raises:
        SettingError: a field is unknown or outside its range.
    """
    known = {field.name for field in dataclasses.fields(Config)}
    for name in sorted(fields.keys() - known):
        raise SettingError(name, "absent", fields[name])
    return Config(**fields)
