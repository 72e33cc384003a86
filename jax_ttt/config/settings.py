"""The settings of a run, composed of parts.

Imports no JAX, so that bad settings are refused immediately.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

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
from jax_ttt.config.ranges import Part

FORMAT_VERSION = 2  # of agents' files and of config.json
READABLE = (1, 2)
"""The format versions that this program reads."""

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
"""The parts, in the order in which a person meets them."""
PART_OF = {name: part for part, type_ in PARTS.items() for name in type_.RULES}
"""The part of each field: no two parts have a field of one name."""
RULES = {name: rule for part in PARTS.values() for name, rule in part.RULES.items()}
"""What each field may be."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of the settings; nothing is checked."""

    run: RunSettings = field(default_factory=RunSettings)
    opponent: OpponentSettings = field(default_factory=OpponentSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    target: TargetSettings = field(default_factory=TargetSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by their names."""
        return {name: self.value(name) for name in PART_OF}

    @property
    def parts(self) -> dict[str, Any]:
        """The parts by their names."""
        return {part: getattr(self, part) for part in PARTS}

    def value(self, name: str) -> Any:  # noqa: ANN401
        """Return the field of this name."""
        return getattr(getattr(self, PART_OF[name]), name)

    def checked(self) -> "Config":
        """Return the settings; raises `SettingError`."""
        return Config(**self.parts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Parts):
    """Every setting of a run but its seed, which is data: seeds share one program.

    `Config.of` makes one of single fields, `replace` changes some.

    Raises:
        SettingError: a field is outside its range, does not go with others, or is not
            at its default and has no effect; the message names the field, what is
            allowed and the value.
    """

    def __post_init__(self) -> None:
        for name, part in self.parts.items():
            if not isinstance(part, PARTS[name]):
                raise SettingError(name, f"a {PARTS[name].__name__}", part)
            part.check()
        for name, rule in _conflicts(self):
            raise SettingError(name, rule, self.value(name))
        for name, cause in _unused(self):
            if self.value(name) != default(name):
                raise _useless(self, name, cause)

    @classmethod
    def of(cls, **fields: Any) -> "Config":  # noqa: ANN401
        """Return the settings with these fields, the others at their defaults."""
        return Config().replace(**fields)

    def replace(self, **fields: Any) -> "Config":  # noqa: ANN401
        """Return the settings with these fields changed.

        Others that these rule out or make useless get their defaults.

        Raises:
            SettingError: a field is unknown, not allowed, or has no effect and another
                value than its default.
        """
        return _made(self.as_dict() | fields, fields)

    def check_effect(self, names: Iterable[str]) -> None:
        """Raise `SettingError` if one of the fields of these names has no effect."""
        causes = dict(_unused(self))
        for name in names:
            if name in causes:
                raise _useless(self, name, causes[name])

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
        """The TD target: the backup, and who chooses the best next action."""
        target = self.target
        return RULE_OF[target.backup, target.double, self.network.network]

    @property
    def architecture(self) -> Architecture:
        """What is needed to use the network once it is trained."""
        return Architecture(
            env_id=self.env_id,
            network=self.network.network,
            heads=HEADS_OF[self.backup_rule],
            canonical=self.network.canonical,
            hidden_sizes=self.network.hidden_sizes,
            activation=self.network.activation,
            table_key=self.network.table_key,
        )

    @property
    def hyper(self) -> Hyper:
        """The numbers that a compiled program takes as data."""
        return Hyper(*map(self.value, Hyper._fields))

    @property
    def static(self) -> "Config":
        """What a program is compiled for: the fields of `hyper` have their defaults."""
        defaults = {name: default(name) for name in Hyper._fields}
        return config_from_dict(self.as_dict() | defaults)


def default(name: str) -> Any:  # noqa: ANN401
    """Return the default of the field of this name."""
    return getattr(PARTS[PART_OF[name]], name)


def config_from_dict(fields: Mapping[str, Any]) -> Config:
    """Return the settings of a file, as `Config.as_dict` gives them.

    A missing field has its default; so has one without effect, as in earlier files.

    Raises:
        SettingError: a field is unknown or not allowed.
    """
    return _made(fields, ())


def _parts(fields: Mapping[str, Any]) -> Parts:
    """Return the parts with these fields, the others at their defaults."""
    for name in sorted(fields.keys() - PART_OF.keys()):
        raise SettingError(name, "absent", fields[name])
    # Numbers of NumPy and JAX become Python's, which JSON and messages know.
    plain = {k: v.item() if hasattr(v, "item") else v for k, v in fields.items()}
    parts: dict[str, Any] = {}
    for part, type_ in PARTS.items():
        own = {name: plain[name] for name in type_.RULES if name in plain}
        parts[part] = type_(**own)
    return Parts(**parts)


def _made(fields: Mapping[str, Any], given: Collection[str]) -> Config:
    """Return checked settings; of the useless ones those `given` are refused.

    At their defaults they are allowed: `Config.of(**config.as_dict()) == config`.
    """
    try:
        for part in (draft := _parts(fields)).parts.values():
            part.check()
    except SettingError as error:
        if not given or error.field in given or error.field not in fields:
            raise
        return _made({k: v for k, v in fields.items() if k != error.field}, given)
    causes = dict(_unused(draft))
    for name in given:
        if name in causes and draft.value(name) != default(name):
            raise _useless(draft, name, causes[name])
    return _parts({k: v for k, v in fields.items() if k not in causes}).checked()


def _useless(config: Parts, name: str, cause: str) -> SettingError:
    rule = f"left out: it has no effect with {cause}"
    return SettingError(name, rule, config.value(name))


def _unused(config: Parts) -> Iterator[tuple[str, str]]:
    """Yield each field without effect, and the setting that makes it useless."""
    for part in config.parts.values():
        yield from part.unused()
    run = config.run
    if not GAMES[run.env_id].symmetries:
        yield "canonical", f"env_id {run.env_id}: its symmetries are not listed"
    if config.target.backward:
        yield "lockstep", "backward: all games end in each update"
    if run.num_envs == 1:
        yield "lockstep", "num_envs 1"


def _conflicts(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each field that those of other parts rule out, and what it must be."""
    game, target, num_envs = GAMES[config.env_id], config.target, config.run.num_envs
    if config.network.is_table and not game.enumerable:
        yield "network", f"mlp in {config.env_id}: too many boards for a table"
    if target.backward and game.max_moves is None:
        yield "backward", f"false in {config.env_id}: its games have no known length"
    if target.backward and config.replay.replay_capacity:
        yield "backward", "false with replay, which has no order"
    if 0 < config.replay.replay_capacity < num_envs:
        yield "replay_capacity", f"0 or at least {num_envs:,} (num_envs)"
    if config.opponent.is_self:
        yield from _in_self_play(target)
    elif target.backup == "two-ply":
        yield "backup", "one-ply against an opponent: its reply is part of the move"


def _in_self_play(target: TargetSettings) -> Iterator[tuple[str, str]]:
    if target.reward_draw != 0:
        yield "reward_draw", "0 in self-play: one's gain is the other's loss"
    if target.reward_loss != -target.reward_win:
        yield "reward_loss", f"{-target.reward_win} in self-play (-reward_win)"
