"""What stays fixed during a run.

Imports no JAX, so that bad settings are refused in a blink.
"""

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import GAMES, EnvId, Seat, SeatSetting
from jax_ttt.config.choices import (
    CHOICES,
    SEATS_OF,
    Activation,
    Backup,
    EpsilonSchedule,
    Loss,
    Network,
    Optimizer,
    Precision,
    TableKey,
)
from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import Range

_FRACTION = Range(float, 0, 1)
_RESULT = Range(float, -1, 1)
_RANGES = {
    "num_envs": Range(int, 1, 2**20),
    "num_updates": Range(int, 1, 10**9),
    "learning_rate": Range(float, 0, 1000, above_low=True),
    "learning_rate_end": Range(float, 0, 1000),
    "weight_decay": Range(float, 0, 1),
    "epsilon_start": _FRACTION,
    "epsilon_end": _FRACTION,
    "epsilon_decay": _FRACTION,
    "reward_win": _RESULT,
    "reward_draw": _RESULT,
    "reward_loss": _RESULT,
    "tau": Range(float, 0, 1, above_low=True),
    "gamma": _FRACTION,
    "target_update_every": Range(int, 0, 10**9),
    "tremble": _FRACTION,
    "replay_capacity": Range(int, 0, 2**24),
    "replay_batch": Range(int, 1, 2**20),
    "replay_start": Range(int, 0, 2**24),
    "initial_value": _RESULT,
    "hidden_size": Range(int, 1, 2**14),
    "hidden_layers": Range(int, 0, 16),
    "eval_every": Range(int, 1, 10**9),
    "eval_games": Range(int, 0, 2**20),
}
DATA = (
    "learning_rate",
    "learning_rate_end",
    "weight_decay",
    "epsilon_start",
    "epsilon_end",
    "epsilon_decay",
    "tau",
    "gamma",
    "tremble",
)
"""Settings that a compiled program takes as data: others share it."""
_SWITCHES = ("double", "canonical", "lockstep", "backward")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Every setting of a run but its seed, which is data: seeds share one program.

    Raises:
        SettingError: a field is outside its range; the message names the field,
            what is allowed and the value.
    """

    env_id: EnvId = catalogue.DEFAULT
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
    """Share of random moves at the last update, and never less;
    from 0 to epsilon_start."""
    epsilon_schedule: EpsilonSchedule = "linear"
    """How it falls: in a line, by steps of epsilon_decay after each tenth of the
    updates, or exponentially, times epsilon_decay after each game that has ended."""
    epsilon_decay: float = 0.1
    """The step, or the factor, of that. 0 to 1."""
    tau: float = 0.05
    """Weight of the new params in the Polyak average that gives the target net;
    above 0, at most 1."""
    gamma: float = 1.0
    """Discount per move; its sign comes from the player to move next. 0 to 1."""
    reward_win: float = 1.0
    """Reward of a win. -1 to 1."""
    reward_draw: float = 0.0
    """Reward of a draw. -1 to 1; 0 in self-play, as one's gain is the other's loss."""
    reward_loss: float = -1.0
    """Reward of a loss. -1 to 1; -reward_win in self-play."""
    opponent: str = "self"
    """Whom it learns against: itself, or any player of the arena, such as random,
    minimax, blend:0.7:minimax, or a saved agent's path."""
    seat: SeatSetting = "both"
    """When it moves against an opponent: first, second, or either, drawn each game."""
    first_move: int | None = None
    """The move that every game of the training opens with, None for any; in its
    grading the agent opens as it likes."""
    double: bool = False
    """Double DQN: the learning net chooses the best next action, the target net
    says what it is worth. Of a table: two tables, one chosen by chance to learn."""
    target_update_every: int = 0
    """Updates between copies of the net to the target net, up to 1,000,000,000;
    0 for the Polyak average with tau at every update."""
    tremble: float = 0.5
    """How often the next mover is thought to play at random in the TD target,
    from 0 (the plain maximum) to 1; more prefers moves that set traps."""
    backup: Backup = "one-ply"
    """What a move is worth: what the position is to the next mover; or, in self-play
    only, to the one who waits for that mover's trembling reply, learned beside it."""
    backward: bool = False
    """Play whole games, then learn from their moves, the last one first; the target
    follows after each of them."""
    replay_capacity: int = 0
    """Moves kept to learn from again, the oldest forgotten first; up to 16,777,216;
    0 to learn from each move once, when it is played."""
    replay_batch: int = 256
    """Kept moves to learn from in each update, drawn evenly. 1 to 1,048,576."""
    replay_start: int = 1000
    """Moves kept before the first is learned from. 0 to 16,777,216."""
    canonical: bool = True
    """Show boards that are turned or mirrored copies of each other as one;
    no effect in games whose symmetries are not listed (config/catalogue.py)."""
    lockstep: bool = False
    """Restart all games together, when the last one has ended, as the article does."""
    network: Network = "mlp"
    """A multilayer perceptron, or a table with an entry for each board and action,
    for games that can be walked."""
    table_key: TableKey = "position"
    """The table's rows: the game's positions; or the positions that moves lead to, one
    value each; or all boards, read as numbers in base 3."""
    initial_value: float = 0.0
    """What a table says of a board never met. -1 to 1."""
    hidden_size: int = 128
    """Neurons in each hidden layer. 1 to 16,384."""
    hidden_layers: int = 2
    """Hidden layers. 0 (a linear function) to 16."""
    activation: Activation = "relu"
    """What each hidden layer ends with."""
    precision: Precision = "auto"
    """What the network's products take while it learns; their sums are float32. auto
    is bfloat16 on a CPU with AMX, else float32. Grades and play are always float32."""
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
        for field, allowed in CHOICES.items():
            if getattr(self, field) not in allowed:
                rule = f"one of {', '.join(allowed)}"
                raise SettingError(field, rule, getattr(self, field))
        for field, allowed in _RANGES.items():
            allowed.check(field, getattr(self, field))
        for field in _SWITCHES:
            if not isinstance(getattr(self, field), bool):
                raise SettingError(field, "true or false", getattr(self, field))
        if not isinstance(self.opponent, str) or not self.opponent:
            raise SettingError("opponent", "a player's name", self.opponent)
        if self.first_move is not None:
            Range(int, 0, 2**16).check("first_move", self.first_move)
        for field, rule in _conflicts(self):
            raise SettingError(field, rule, getattr(self, field))

    @classmethod
    def of(cls, **fields: Any) -> "Config":  # noqa: ANN401
        """Return the settings with these fields, the others at their defaults."""
        return cls(**fields)

    def replace(self, **fields: Any) -> "Config":  # noqa: ANN401
        """Return the settings with these fields changed."""
        return dataclasses.replace(self, **fields)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by their names."""
        return dataclasses.asdict(self)

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that the agent learns."""
        return SEATS_OF[self.seat]


def _conflicts(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each field that others rule out, and what it must be."""
    yield from _of_schedules(config)
    yield from _of_parts(config)
    if config.opponent == "self":
        yield from _of_self_play(config)
    yield from _of_rewards(config)


def _of_schedules(config: Config) -> Iterator[tuple[str, str]]:
    if config.epsilon_end > config.epsilon_start:
        yield "epsilon_end", f"at most {config.epsilon_start} (epsilon_start)"
    if config.learning_rate_end > config.learning_rate:
        yield "learning_rate_end", f"at most {config.learning_rate} (learning_rate)"
    if config.optimizer == "sgd" and config.weight_decay:
        yield "weight_decay", "0 with sgd"


def _of_parts(config: Config) -> Iterator[tuple[str, str]]:
    game = GAMES[config.env_id]
    if config.network == "table" and not game.enumerable:
        yield "network", f"mlp in {config.env_id}: too many boards for a table"
    if config.backward and game.max_moves is None:
        yield "backward", f"false in {config.env_id}: its games have no known length"
    if config.backward and config.replay_capacity:
        yield "backward", "false with replay, which has no order"
    least = max(config.replay_batch, config.replay_start, config.num_envs)
    if 0 < config.replay_capacity < least:
        rule = f"0 or at least {least:,} (replay_batch, replay_start, num_envs)"
        yield "replay_capacity", rule
    if config.backup == "two-ply" and config.opponent != "self":
        yield "backup", "one-ply against an opponent: its reply is part of the move"
    if config.backup == "two-ply" and config.double:
        yield "double", "false with a two-ply backup"


def _of_rewards(config: Config) -> Iterator[tuple[str, str]]:
    if not config.reward_loss < config.reward_win:
        yield "reward_loss", f"below {config.reward_win} (reward_win)"
    if not config.reward_loss <= config.reward_draw <= config.reward_win:
        rule = f"from {config.reward_loss} (reward_loss) to {config.reward_win}"
        yield "reward_draw", f"{rule} (reward_win)"


def _of_self_play(config: Config) -> Iterator[tuple[str, str]]:
    if config.seat != "both":
        yield "seat", "both in self-play, where it plays both sides"
    if config.reward_draw != 0:
        yield "reward_draw", "0 in self-play: one's gain is the other's loss"
    if config.reward_loss != -config.reward_win:
        yield "reward_loss", f"{-config.reward_win} in self-play (-reward_win)"


def split(config: Config) -> tuple[Config, dict[str, float]]:
    """Return what a program is compiled for, and the settings it takes as data.

    In the first of them, the settings of the second have their defaults.
    """
    defaults = {f.name: f.default for f in dataclasses.fields(Config) if f.name in DATA}
    numbers = {name: float(getattr(config, name)) for name in DATA}
    return dataclasses.replace(config, **defaults), numbers


def joined(config: Config, numbers: Mapping[str, Any]) -> Config:
    """Return `config` with these settings, which may be traced and are not checked."""
    whole = copy.copy(config)
    for name, value in numbers.items():
        object.__setattr__(whole, name, value)  # frozen for everybody else
    return whole


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
