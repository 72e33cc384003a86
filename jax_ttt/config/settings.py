"""The settings of a run, composed of parts.

Imports no JAX, so that bad settings are refused immediately.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jax_ttt.config.architecture import Architecture
from jax_ttt.config.catalogue import GAMES, EnvId, Seat
from jax_ttt.config.choices import HEADS_OF, SEATS_OF, BackupRule
from jax_ttt.config.errors import SettingError
from jax_ttt.config.hyper import Hyper
from jax_ttt.config.parts.evaluation import Evaluation
from jax_ttt.config.parts.exploration import Exploration
from jax_ttt.config.parts.network import Network
from jax_ttt.config.parts.opponent import Opponent
from jax_ttt.config.parts.optimizer import Optimizer
from jax_ttt.config.parts.part import Part, rules
from jax_ttt.config.parts.replay import Replay
from jax_ttt.config.parts.run import Run
from jax_ttt.config.parts.target import Target

PARTS: dict[str, type[Part]] = {
    "run": Run,
    "opponent": Opponent,
    "network": Network,
    "target": Target,
    "exploration": Exploration,
    "optimizer": Optimizer,
    "replay": Replay,
    "evaluation": Evaluation,
}
"""The parts, in the order in which a person meets them."""
PART_OF = {field: part for part, type_ in PARTS.items() for field in rules(type_)}
"""The part of each field: no two parts have a field of one name."""
RULES = {field: rule for part in PARTS.values() for field, rule in rules(part).items()}
"""What each field may be."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Every setting of a run but its seed, which is data: seeds share one program.

    `Config.of` makes one of single fields, `replace` changes some.

    Raises:
        SettingError: a field is outside its range, does not go with others, or is set
            and has no effect; the message names the field, what is allowed and the
            value.
    """

    run: Run = dataclasses.field(default_factory=Run)
    opponent: Opponent = dataclasses.field(default_factory=Opponent)
    network: Network = dataclasses.field(default_factory=Network)
    target: Target = dataclasses.field(default_factory=Target)
    exploration: Exploration = dataclasses.field(default_factory=Exploration)
    optimizer: Optimizer = dataclasses.field(default_factory=Optimizer)
    replay: Replay = dataclasses.field(default_factory=Replay)
    evaluation: Evaluation = dataclasses.field(default_factory=Evaluation)

    def __post_init__(self) -> None:
        for part in self.parts.values():
            part.check()
        for field, rule in _conflicts(self):
            raise SettingError(field, rule, self.value(field))
        for field, cause in _unused(self):
            if self.value(field) != default(field):
                raise _useless(self, field, cause)

    @classmethod
    def of(cls, **fields: Any) -> "Config":  # noqa: ANN401
        """Return the settings with these fields, the others at their defaults."""
        return Config().replace(**fields)

    def replace(self, **fields: Any) -> "Config":  # noqa: ANN401
        """Return the settings with these fields changed.

        Others that have no effect any longer get their defaults.

        Raises:
            SettingError: a field is unknown, not allowed, or has no effect.
        """
        return _made(self.as_dict() | fields, fields)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by their names."""
        return {field: self.value(field) for field in PART_OF}

    @property
    def parts(self) -> dict[str, Any]:
        """The parts by their names."""
        return {part: getattr(self, part) for part in PARTS}

    def value(self, field: str) -> Any:  # noqa: ANN401
        """Return the field of this name."""
        return getattr(getattr(self, PART_OF[field]), field)

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
        if not self.target.double:
            return self.target.backup
        return "double-tables" if self.network.is_table else "double"

    @property
    def architecture(self) -> Architecture:
        """What is needed to use the network once it is trained."""
        views = bool(GAMES[self.env_id].symmetries)
        return Architecture(
            env_id=self.env_id,
            network=self.network.network,
            heads=HEADS_OF[self.backup_rule],
            canonical=self.network.canonical and views,
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
        defaults = {field: default(field) for field in Hyper._fields}
        return from_dict(self.as_dict() | defaults)


def default(field: str) -> Any:  # noqa: ANN401
    """Return the default of the field of this name."""
    return getattr(PARTS[PART_OF[field]], field)


def from_dict(fields: Mapping[str, Any]) -> Config:
    """Return the settings of a file, as `Config.as_dict` gives them.

    A field that is missing, in a file from before it was there, has its default; so
    has one without effect, which earlier versions accepted.

    Raises:
        SettingError: a field is unknown or not allowed.
    """
    return _made(fields, ())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Draft(Config):
    """Settings as a parser reads them, not checked yet."""

    def __post_init__(self) -> None:
        pass

    def checked(self) -> Config:
        """Return the settings; raises `SettingError`."""
        return from_dict(self.as_dict())

    @staticmethod
    def of_fields(fields: Mapping[str, Any]) -> "Draft":
        """Return the parts with these fields."""
        for name in sorted(fields.keys() - PART_OF.keys()):
            raise SettingError(name, "absent", fields[name])
        parts: dict[str, Any] = {}
        for part, type_ in PARTS.items():
            own = {name: fields[name] for name in rules(type_) if name in fields}
            parts[part] = type_(**own)
        return Draft(**parts)


def _made(fields: Mapping[str, Any], given: Collection[str]) -> Config:
    """Return checked settings; of the useless ones those `given` are refused."""
    draft = Draft.of_fields(fields)
    for part in draft.parts.values():
        part.check()
    causes = dict(_unused(draft))
    for field in given:
        if field in causes:
            raise _useless(draft, field, causes[field])
    draft = Draft.of_fields({k: v for k, v in fields.items() if k not in causes})
    return Config(**draft.parts)


def _useless(config: Config, field: str, cause: str) -> SettingError:
    rule = f"left out: it has no effect with {cause}"
    return SettingError(field, rule, config.value(field))


def _unused(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each field without effect, and the setting that makes it useless."""
    for part in config.parts.values():
        yield from part.unused()
    if not GAMES[config.env_id].symmetries:
        yield "canonical", f"env_id {config.env_id}: its symmetries are not listed"
    if config.target.backward:
        yield "lockstep", "backward: all games end in each update"


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


def _in_self_play(target: Target) -> Iterator[tuple[str, str]]:
    if target.reward_draw != 0:
        yield "reward_draw", "0 in self-play: one's gain is the other's loss"
    if target.reward_loss != -target.reward_win:
        yield "reward_loss", f"{-target.reward_win} in self-play (-reward_win)"
