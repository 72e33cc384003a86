"""The settings of a run, composed of parts.

Imports no JAX, so that bad settings are refused immediately.
"""

import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field

from jax_ttt.config import catalogue
from jax_ttt.config.architecture import Architecture
from jax_ttt.config.catalogue import GAMES, EnvId, Seat
from jax_ttt.config.choices import HEADS_OF, RULE_OF, SEATS_OF, BackupRule
from jax_ttt.config.errors import SettingError
from jax_ttt.config.hyper import Hyper
from jax_ttt.config.parts.evaluation import EvaluationSettings
from jax_ttt.config.parts.exploration import ExplorationSettings
from jax_ttt.config.parts.network import NetworkSettings
from jax_ttt.config.parts.opponent import OpponentSettings
from jax_ttt.config.parts.optimizer import OptimizerSettings
from jax_ttt.config.parts.replay import ReplaySettings
from jax_ttt.config.parts.run import RunSettings
from jax_ttt.config.parts.target import TargetSettings
from jax_ttt.config.ranges import Conflict, Part, Setting, without_effect

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
"""The parts, in the order of `--help`."""
PART_OF = {name: part for part, type_ in PARTS.items() for name in type_.RULES}
"""The part of each field; field names are unique."""
RULES = {name: rule for part in PARTS.values() for name, rule in part.RULES.items()}
"""The allowed values of each field."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of the settings, not checked."""

    run: RunSettings = field(default_factory=RunSettings)
    opponent: OpponentSettings = field(default_factory=OpponentSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    target: TargetSettings = field(default_factory=TargetSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def as_dict(self) -> dict[str, Setting]:
        """Return all fields by name."""
        return {name: self.value(name) for name in PART_OF}

    @property
    def parts(self) -> dict[str, Part]:
        """The parts by name."""
        return {part: getattr(self, part) for part in PARTS}

    def value(self, name: str) -> Setting:
        """Return the field of this name."""
        return getattr(getattr(self, PART_OF[name]), name)

    def checked(self) -> "Config":
        """Return the settings, or raise `SettingError`."""
        return Config(
            run=self.run,
            opponent=self.opponent,
            network=self.network,
            target=self.target,
            exploration=self.exploration,
            optimizer=self.optimizer,
            replay=self.replay,
            evaluation=self.evaluation,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Parts):
    """All settings of a run except its seed, which is data: seeds share one program.

    `Config.of` makes settings from single fields, and `replace` changes some fields.

    Raises:
        SettingError: a field is outside its range, contradicts others, or has no effect
            although it differs from its default.
    """

    def __post_init__(self) -> None:
        for name, part in self.parts.items():
            if not isinstance(part, PARTS[name]):
                raise SettingError(name, f"a {PARTS[name].__name__}", part)
            part.check()
        for conflict in _conflicts(self):
            raise _refusal(self, conflict)
        for conflict in _unused(self):
            if self.value(conflict.field) != default(conflict.field):
                raise _refusal(self, conflict)

    @classmethod
    def of(cls, **fields: Setting) -> "Config":
        """Return the settings with these fields and defaults for the others."""
        return _made(fields, fields)

    def replace(self, **fields: Setting) -> "Config":
        """Return the settings with these fields changed.

        Other fields that then have no effect get their defaults, which changes nothing
        in the training. No other field changes.

        Raises:
            SettingError: one of the fields is unknown, not allowed, contradicts
                another field, or has no effect although it differs from its default;
                or a table becomes an mlp without a `learning_rate`, as that of a table
                is a share of the error.
        """
        becomes_mlp = self.network.is_table and fields.get("network") == "mlp"
        if becomes_mlp and "learning_rate" not in fields:
            rule = "table, or given with a learning_rate for an mlp"
            raise SettingError("network", rule, "mlp", ("learning_rate",))
        return _made(self.as_dict() | fields, fields)

    def check_effect(self, names: Iterable[str]) -> None:
        """Raise `SettingError` if a field of these names has no effect."""
        useless = {conflict.field: conflict for conflict in _unused(self)}
        for name in names:
            if name in useless:
                raise _refusal(self, useless[name])

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

    @property
    def architecture(self) -> Architecture:
        """The settings needed to use the trained network."""
        return Architecture(
            env_id=self.env_id,
            network=self.network.network,
            heads=HEADS_OF[self.backup_rule],
            canonical=self.network.canonical,
            hidden_sizes=self.network.hidden_sizes,
            two_planes=self.network.two_planes,
            filters=self.network.filters,
            activation=self.network.activation,
            table_key=self.network.table_key,
        )

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


def default(name: str) -> Setting:
    """Return the default of the field of this name."""
    return getattr(PARTS[PART_OF[name]], name)


def config_from_dict(fields: Mapping[str, object]) -> Config:
    """Return the settings from a dictionary like that of `Config.as_dict`.

    A missing field gets its default, and so does one without effect (in older files).

    Raises:
        SettingError: a field is unknown or not allowed.
    """
    return _made(fields, ())


def _parts(fields: Mapping[str, object]) -> Parts:
    """Return the parts with these fields and defaults for the others."""
    for name in sorted(fields.keys() - PART_OF.keys()):
        raise SettingError(name, "absent", fields[name])
    plain = {name: _plain(value) for name, value in fields.items()}
    parts: dict[str, Part] = {}
    for part, type_ in PARTS.items():
        own = {name: plain[name] for name in type_.RULES if name in plain}
        parts[part] = type_(**own)
    return dataclasses.replace(Parts(), **parts)


def _plain(value: object) -> object:
    """Return a number of NumPy or JAX as one of Python, for JSON and messages."""
    item = getattr(value, "item", None)
    return value if item is None else item()


def _made(fields: Mapping[str, object], given: Collection[str]) -> Config:
    """Return checked settings; refuse fields `given` without effect unless default."""
    draft = _parts(fields)
    for part in draft.parts.values():
        part.check()
    useless = {conflict.field: conflict for conflict in _unused(draft)}
    for name in given:
        if name in useless and draft.value(name) != default(name):
            raise _refusal(draft, useless[name])
    return _parts({k: v for k, v in fields.items() if k not in useless}).checked()


def _refusal(config: Parts, conflict: Conflict) -> SettingError:
    value = config.value(conflict.field)
    return SettingError(conflict.field, conflict.rule, value, conflict.others)


def _unused(config: Parts) -> Iterator[Conflict]:
    """Yield each field that others leave without effect."""
    for part in config.parts.values():
        yield from part.unused()
    run = config.run
    game = GAMES[run.env_id]
    if not game.symmetries:
        cause = f"env_id {run.env_id}: its symmetries are not listed"
        yield without_effect("canonical", cause, "env_id")
    if not game.stones:
        cause = f"env_id {run.env_id}: it does not show stones"
        yield without_effect("two_planes", cause, "env_id")
    if not run.start_share:
        yield without_effect("max_positions", "start_share 0", "start_share")
    if config.target.backward:
        cause = "backward: all games end in each update"
        yield without_effect("lockstep", cause, "backward")
    if run.num_envs == 1:
        yield without_effect("lockstep", "num_envs 1", "num_envs")


def _conflicts(config: Config) -> Iterator[Conflict]:
    """Yield each field that others rule out, of its part or of another one."""
    game, target, num_envs = GAMES[config.env_id], config.target, config.run.num_envs
    if config.network.is_table and not game.enumerable:
        rule = f"mlp in {config.env_id}: too many boards for a table"
        yield Conflict("network", rule, ("env_id",))
    if target.backward and game.max_moves is None:
        rule = f"false in {config.env_id}: its games have no known length"
        yield Conflict("backward", rule, ("env_id",))
    if target.backward and config.replay.replay_capacity:
        rule = "false with replay, which has no order"
        yield Conflict("backward", rule, ("replay_capacity",))
    if 0 < config.replay.replay_capacity < num_envs:
        rule = f"0 or at least {num_envs:,} (num_envs)"
        yield Conflict("replay_capacity", rule, ("num_envs",))
    if config.run.start_share:
        yield from _without_counterexamples(config)
    if config.opponent.is_self:
        yield from _in_self_play(target)
    else:
        yield from _against_an_opponent(config)
    for part in config.parts.values():
        yield from part.conflicts()


def _without_counterexamples(config: Parts) -> Iterator[Conflict]:
    """Yield `start_share` where no counterexamples are found."""
    if reason := catalogue.why_not_searched(config.run.env_id):
        yield Conflict("start_share", f"0: {reason}", ("env_id",))
    if config.exploration.random_opening:  # a counterexample would be left at random
        yield Conflict("random_opening", "0 with start_share", ("start_share",))


def _against_an_opponent(config: Parts) -> Iterator[Conflict]:
    if config.target.backup == "two-ply":
        rule = "one-ply against an opponent: its reply is part of the move"
        yield Conflict("backup", rule, ("opponent",))
    if config.run.start_share:
        rule = f"0 against {config.opponent.opponent}: for self-play only"
        yield Conflict("start_share", rule, ("opponent",))


def _in_self_play(target: TargetSettings) -> Iterator[Conflict]:
    if target.reward_draw != 0:
        rule = "0 in self-play: one's gain is the other's loss"
        yield Conflict("reward_draw", rule, ("opponent",))
    if target.reward_win <= 0:
        yield Conflict("reward_win", "above 0 in self-play", ("opponent",))
    elif target.reward_loss != -target.reward_win:
        rule = f"{-target.reward_win} in self-play (-reward_win)"
        yield Conflict("reward_loss", rule, ("reward_win", "opponent"))
