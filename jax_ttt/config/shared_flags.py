"""The flags that several commands have, and the words after them."""

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal, Self

import tyro
from msgspec import Meta

from jax_ttt.config import game_facts, presets
from jax_ttt.config.errors import ConflictError, Refused, SettingError, flag_name
from jax_ttt.config.own_code import OwnCode
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config, types_of

_ADDRESS = re.compile(r"(.+):(\d{1,5})")
DeviceName = Literal["auto", "cpu", "gpu", "tpu"]
GivenFlags = dict[str, list[str]]
"""The words after each flag of a command line, by the name of the flag's field."""
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What a line can't show: control characters, line ends, bytes that are not UTF-8."""
_SAVED = ("resume", "config")
"""The flags that name saved settings."""
_CLUSTER_FIELDS = ("coordinator", "num_processes", "process_id")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MachineFlags:
    """The device on which a command runs, and its cache of compiled programs."""

    device: DeviceName = "auto"
    """Device to compute on; one that this machine lacks is refused. auto: the platform
    that $JAX_DEFAULT_DEVICE names, else the best one that JAX finds."""
    no_compile_cache: tyro.conf.FlagCreatePairsOff[bool] = False
    """Neither read nor write the cache of compiled programs. Its folder is
    $JAX_COMPILATION_CACHE_DIR, else one in the user's cache folder."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class UserGameFlags:
    """A game, a learner or a network that a file outside the package defines."""

    rules: Path | None = None
    """A Python file with a game of your own (docs/use/own_rules.md)."""
    learner: Path | None = None
    """A Python file that defines a learner or a network of your own
    (docs/use/own_learner.md)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceFlags:
    """The devices of one host over which a command spreads its work.

    Raises:
        SettingError: the flag is not a number of devices.
    """

    devices: str | None = None
    """Devices to spread the work over, a number or all: the agents of a sweep, and the
    positions that a player reaches. One agent trains on one device. By default one;
    with --distributed, which train and sweep have, all."""

    def __post_init__(self) -> None:
        text = self.devices
        if text in (None, "all"):
            return
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 10**6:
            raise SettingError("devices", "a number from 1, or all", text)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistributedFlags(DeviceFlags):
    """The devices and hosts over which a command spreads its work.

    Raises:
        Refused: a flag has a wrong value, or needs another flag.
    """

    distributed: tyro.conf.FlagCreatePairsOff[bool] = False
    """Join the processes on several hosts that run this same command. They share the
    agents of a sweep; a single agent is trained by each. JAX detects SLURM, Open MPI,
    Kubernetes and TPU pods; elsewhere the next three flags are needed."""
    coordinator: str | None = None
    """Address of process 0, HOST:PORT, which the others connect to."""
    num_processes: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    """The number of processes."""
    process_id: Annotated[int, Meta(ge=0, le=99_999)] | None = None
    """The number of this process, from 0. Only 0 prints and writes files."""

    @property
    def is_spread(self) -> bool:
        """Whether more than one device may be used."""
        return self.distributed or self.devices is not None

    def __post_init__(self) -> None:
        super().__post_init__()
        fields = [name for name in _CLUSTER_FIELDS if getattr(self, name) is not None]
        if not self.distributed:
            for name in fields:
                raise SettingError(name, "used with --distributed", getattr(self, name))
            return
        if self.devices not in (None, "all"):
            rule = "all, or left out, with --distributed"
            raise SettingError("devices", rule, self.devices)
        if fields and len(fields) < len(_CLUSTER_FIELDS):
            missing = sorted({*_CLUSTER_FIELDS} - {*fields})
            missing_flags = " and ".join(map(flag_name, missing))
            raise Refused(f"{flag_name(fields[0])} needs {missing_flags} too")
        if fields:
            self._check_address()

    def _check_address(self) -> None:
        match = _ADDRESS.fullmatch(self.coordinator or "")
        if not match or not 0 < int(match[2]) < 2**16:
            raise SettingError("coordinator", "HOST:PORT", self.coordinator)
        if (self.process_id or 0) >= (self.num_processes or 0):
            rule = f"less than --num-processes {self.num_processes}"
            raise SettingError("process_id", rule, self.process_id)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingFlags:
    """The settings of the agents that a command trains, and the devices it uses."""

    preset: Preset = "default"
    """Named settings, which the other flags change. Without this flag: default for
    self-play in tic_tac_toe, else plain. A flag that contradicts a setting of the
    preset is refused. This help shows the values of the preset."""
    config: Config = PRESETS["default"]
    user_game: UserGameFlags = field(default_factory=UserGameFlags)
    parallel: DistributedFlags = field(default_factory=DistributedFlags)
    machine: MachineFlags = field(default_factory=MachineFlags)
    given_fields: tyro.conf.Suppress[tuple[str, ...]] = ()
    """The fields whose flags the user gives."""
    source: tyro.conf.Suppress[str] = ""
    """The source of the settings that no flag gives, for messages: a preset or file."""
    files: tyro.conf.Suppress[dict[str, str] | None] = None
    """The SHA-256 of the agents' files that saved settings name, by their names."""
    random_numbers: tyro.conf.Suppress[str | None] = None
    """JAX's generator of random numbers, with which saved settings were used."""

    @classmethod
    def with_defaults(cls, given: GivenFlags) -> Self:
        """Return the arguments of the preset that the flags name or imply.

        An opponent of a sweep's grid counts as one that the flags name.
        """
        grid = [word.partition("=") for word in given.get("grid", ())]
        values = [text.split(",") for name, _, text in grid if name == "opponent"]
        opponents = [first_word(given, "opponent"), *itertools.chain(*values)]
        preset = first_word(given, "preset")
        if preset is None:
            env_id = first_word(given, "env_id")
            preset = presets.default_preset(env_id and env_id.lower(), *opponents)
        preset = preset.lower() if preset.lower() in PRESETS else "default"
        return cls(config=PRESETS[preset], preset=preset, source=f"preset {preset}")

    @classmethod
    def has_game(cls, given: GivenFlags) -> bool:
        """Return whether a flag names the game, or the file of settings does."""
        return bool(given.keys() & {"env_id", "resume"})

    @classmethod
    def implied_words(cls, given: GivenFlags, own: OwnCode | None) -> list[str]:
        """Return the flags that a user's file implies, and add them to `given`.

        They are the only game of the file of `--rules`, and a learner's preset.
        """
        implied: GivenFlags = {}
        if "rules" in given and not cls.has_game(given) and "help" not in given:
            implied["env_id"] = [game_facts.default_game()]
        if own and own.default_preset and not given.keys() & {"preset", *_SAVED}:
            implied["preset"] = [own.default_preset]
        given.update(implied)
        return [
            word
            for name, (value,) in implied.items()
            for word in (flag_name(name), value)
        ]

    def with_learner(self, own: OwnCode | None, given: GivenFlags) -> Self:
        """Return the arguments with a user's learner, unless the settings have it.

        Raises:
            Refused: the settings have another one.
        """
        saved = self.config.own
        if own is None:
            return self
        if saved is None and "resume" in given:
            raise Refused("--learner must be left out: the run has none")
        if saved is not None and saved.sha256 != own.sha256:
            rule = f"that of the settings, {saved.file}, or left out"
            raise Refused(f"--learner must be {rule}, got {own.file}")
        return dataclasses.replace(self, config=self.config.replace(own=saved or own))

    @property
    def source_note(self) -> str:
        """The end of a line: the source of the settings that no flag gives."""
        return f"; the other values come from {self.source}"

    def with_settings(self, values: Mapping[str, object]) -> Self:
        """Return the arguments with the settings that flags give; `values` has them.

        Raises:
            Refused: a setting contradicts others, or has no effect.
        """
        names = {name.removeprefix("no_") for name in self.given_fields}
        given = {name: values[name] for name in names & types_of(self.config).keys()}
        try:
            config = self.config.replace(**given)
            config.check_changes(self.config)
        except ConflictError as error:
            raise Refused(f"{error.args[0]}{self.source_note}") from None
        for name in ("rules", "learner"):
            # The file uses JAX, which the processes must join before.
            is_given = getattr(self.user_game, name) is not None
            if is_given and self.parallel.distributed:
                raise Refused(f"--{name} must be left out with --distributed")
        return dataclasses.replace(self, config=config)


def given_flags(words: Sequence[str]) -> GivenFlags:
    """Return the words after each flag, by the name of the flag's field.

    Raises:
        Refused: a flag is given twice, and tyro would use the last one; a word is
            empty, and as a path would be the current folder; or a line can't show it.
    """
    given: GivenFlags = {}
    values: list[str] = []
    for previous, word in zip(("", *words), words, strict=False):
        if not word:
            place = f" after {previous}" if previous else ""
            raise Refused(f"can't use an empty word{place}")
        if _UNPRINTABLE.search(word):
            raise Refused(f"can't use {word!r}: it has a control character")
        if word == "--":  # only values follow
            break
        if not word.startswith("--"):
            values.append(word)
            continue
        name, equals, value = word.partition("=")
        if equals and not value:
            raise Refused(f"can't use {word}: its value is empty")
        field = name.removeprefix("--").replace("-", "_")
        switch = field.removeprefix("no_")
        if given.keys() & {switch, f"no_{switch}"}:
            raise Refused(f"{name} must be given once, and without its opposite")
        given[field] = values = [value] if value else []
    return given


def first_word(given: GivenFlags, field: str) -> str | None:
    """Return the word after the flag of a field; None without flag or word."""
    return next(iter(given.get(field, ())), None)
