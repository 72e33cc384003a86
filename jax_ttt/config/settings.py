"""The settings of a run, composed of parts.

Imports no JAX, so that bad settings are refused immediately.
"""

import dataclasses
import functools
from dataclasses import field

from jax_ttt.config import catalogue
from jax_ttt.config.architecture import Architecture
from jax_ttt.config.catalogue import GAMES, EnvId, Seat
from jax_ttt.config.choices import HEADS_OF, RULE_OF, SEATS_OF, BackupRule
from jax_ttt.config.errors import ConflictError, SettingError, did_you_mean
from jax_ttt.config.hyper import Hyper
from jax_ttt.config.parts.evaluation import EvaluationSettings
from jax_ttt.config.parts.exploration import ExplorationSettings
from jax_ttt.config.parts.network import NetworkSettings
from jax_ttt.config.parts.opponent import OpponentSettings
from jax_ttt.config.parts.optimizer import OptimizerSettings
from jax_ttt.config.parts.replay import ReplaySettings
from jax_ttt.config.parts.run import RunSettings
from jax_ttt.config.parts.target import TargetSettings
from jax_ttt.config.ranges import Part, Setting, hints

PARTS: dict[str, type[Part]] = {
    "run": RunSettings,
    "opponent": OpponentSettings,
    "network": NetworkSettings,
    "target": TargetSettings,
    "exploration": ExplorationSettings,
    "optimizer": OptimizerSettings,
    "replay": ReplaySettings,
    "evaluation": EvaluationSettings,
}
"""The types of the parts by name."""
PART_OF = {name: part for part, type_ in PARTS.items() for name in hints(type_)}
"""The part of each field; field names are unique."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of a run except its seed, which is data: seeds share one program.

    `Config.of` makes settings from single fields, and `replace` changes some fields.
    A field that has no effect beside the others may have any value.

    Raises:
        SettingError: a field is outside its range, or contradicts others.
    """

    run: RunSettings = field(default_factory=RunSettings)
    opponent: OpponentSettings = field(default_factory=OpponentSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    target: TargetSettings = field(default_factory=TargetSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def __post_init__(self) -> None:
        _check_game(self)
        _check_replay(self)
        if self.opponent.is_self:
            _check_self_play(self.target)
        else:
            _check_opponent(self)

    @classmethod
    def of(cls, **fields: object) -> "Config":
        """Return the settings with these fields and defaults for the others."""
        return cls().replace(**fields)

    def replace(self, **fields: object) -> "Config":
        """Return the settings with these fields changed, and no others.

        Raises:
            SettingError: a field is unknown, outside its range, or contradicts others.
        """
        grouped: dict[str, dict[str, object]] = {}
        for name, value in fields.items():
            if name not in PART_OF:
                hint = did_you_mean(name, PART_OF)
                raise SettingError(name, f"the name of a setting{hint}", value)
            # A number of NumPy or JAX becomes one of Python, for JSON and messages.
            item = getattr(value, "item", None)
            plain = value if item is None else item()
            grouped.setdefault(PART_OF[name], {})[name] = plain
        parts = {
            part: dataclasses.replace(getattr(self, part), **changes)
            for part, changes in grouped.items()
        }
        return dataclasses.replace(self, **parts)

    def as_dict(self) -> dict[str, Setting]:
        """Return all fields by name."""
        return {name: self.value(name) for name in PART_OF}

    def value(self, name: str) -> Setting:
        """Return the field of this name."""
        return getattr(getattr(self, PART_OF[name]), name)

    def without_effect(self) -> dict[str, str]:
        """Return the fields that others leave without effect, each with its cause."""
        causes: dict[str, str] = {}
        for part in PARTS:
            causes |= getattr(self, part).without_effect()
        if not GAMES[self.env_id].symmetries:
            cause = f"env_id {self.env_id}: its symmetries are not listed"
            causes["canonical"] = cause
        if self.network.is_table:
            causes["precision"] = "network table"
        if not self.run.start_share:
            causes["max_positions"] = "start_share 0"
        if self.target.backward:
            causes["lockstep"] = "backward: all games end in each update"
        return causes

    def check_changes(self, before: "Config") -> None:
        """Raise `ConflictError` if a field that differs from `before` has no effect.

        Nor may an mlp learn at a table's rate, which is a share of the error.
        """
        for name, cause in self.without_effect().items():
            if self.value(name) != before.value(name):
                rule = f"left out: it has no effect with {cause}"
                raise ConflictError(name, rule, self.value(name))
        has_rate_of_table = before.network.is_table and not self.network.is_table
        rate = self.optimizer.learning_rate
        if has_rate_of_table and rate == before.optimizer.learning_rate:
            rule = f"table, or given with another learning_rate than {rate}, a table's"
            raise ConflictError("network", rule, self.network.network)

    @property
    def env_id(self) -> EnvId:
        """The game."""
        return self.run.env_id

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that the agent learns."""
        return SEATS_OF[self.opponent.seat]

    @property
    def backup_rule(self) -> BackupRule:
        """The rule of the TD target: the backup, and what chooses the next action."""
        target = self.target
        return RULE_OF[target.backup, target.double, self.network.network]

    @functools.cached_property
    def architecture(self) -> Architecture:
        """What is needed to use the trained network."""
        heads = HEADS_OF[self.backup_rule]
        return Architecture(env_id=self.env_id, heads=heads, network=self.network)

    @property
    def evaluations_change_training(self) -> bool:
        """Whether the training depends on `eval_every`."""
        return self.finds_counterexamples or self.optimizer.learning_rate_decay < 1

    @property
    def finds_counterexamples(self) -> bool:
        """Whether each evaluation enumerates what the agent reaches."""
        return self.run.start_share > 0

    @property
    def hyper(self) -> Hyper:
        """The hyperparameters that a compiled program takes as data."""
        return Hyper(
            learning_rate=self.optimizer.learning_rate,
            learning_rate_end=self.optimizer.learning_rate_end,
            weight_decay=self.optimizer.weight_decay,
            average_span=self.optimizer.average_span,
            epsilon_start=self.exploration.epsilon_start,
            epsilon_end=self.exploration.epsilon_end,
            epsilon_decay=self.exploration.epsilon_decay,
            tau=self.target.tau,
            gamma=self.target.gamma,
            tremble=self.target.tremble,
        )

    @functools.cached_property
    def compiled_for(self) -> tuple[Setting, ...]:
        """The settings that a program is compiled for: all but those of `hyper`."""
        numbers = {*Hyper._fields}
        fields = self.as_dict().items()
        return tuple(value for name, value in fields if name not in numbers)


def _check_game(config: Config) -> None:
    """Raise `ConflictError` for what can't be done in the game."""
    env_id, start_share = config.env_id, config.run.start_share
    if config.network.is_table and not GAMES[env_id].enumerable:
        rule = f"mlp in {env_id}: too many boards for a table"
        raise ConflictError("network", rule, config.network.network)
    if config.network.two_planes and not GAMES[env_id].stones:
        rule = f"false in {env_id}: it does not show stones"
        raise ConflictError("two_planes", rule, True)
    if config.target.backward and GAMES[env_id].max_moves is None:
        rule = f"false in {env_id}: its games have no known length"
        raise ConflictError("backward", rule, True)
    if start_share and (reason := catalogue.why_not_searched(env_id)):
        raise ConflictError("start_share", f"0: {reason}", start_share)
    opening = config.exploration.random_opening
    if start_share and opening:  # a counterexample would be left at random
        raise ConflictError("random_opening", "0 with start_share", opening)


def _check_replay(config: Config) -> None:
    """Raise `ConflictError` for what does not go with the replay buffer."""
    capacity, num_envs = config.replay.replay_capacity, config.run.num_envs
    if config.target.backward and capacity:
        raise ConflictError("backward", "false with replay, which has no order", True)
    if 0 < capacity < num_envs:
        rule = f"0 or at least {num_envs:,} (num_envs)"
        raise ConflictError("replay_capacity", rule, capacity)


def _check_opponent(config: Config) -> None:
    """Raise `ConflictError` for what does not go with an opponent."""
    if config.target.backup == "two-ply":
        rule = "one-ply against an opponent: its reply is part of the move"
        raise ConflictError("backup", rule, config.target.backup)
    if config.run.start_share:
        rule = f"0 against {config.opponent.opponent}: for self-play only"
        raise ConflictError("start_share", rule, config.run.start_share)


def _check_self_play(target: TargetSettings) -> None:
    """Raise `ConflictError` for rewards of which one's gain is not the other's loss."""
    if target.reward_draw != 0:
        rule = "0 in self-play: one's gain is the other's loss"
        raise ConflictError("reward_draw", rule, target.reward_draw)
    if target.reward_win <= 0:
        raise ConflictError("reward_win", "above 0 in self-play", target.reward_win)
    if target.reward_loss != -target.reward_win:
        rule = f"{-target.reward_win} in self-play (-reward_win)"
        raise ConflictError("reward_loss", rule, target.reward_loss)
