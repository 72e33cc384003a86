"""The parts that commands share: parsing, the choice of a device, checks of files.

tyro makes the flags from dataclasses: the fields' types, ranges and docstrings become
the flags, their checks and their help. argparse would need a second description of each
field.

Imports no JAX, so that bad flags are refused immediately.
"""

import contextlib
import dataclasses
import inspect
import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, Self, TypeVar

import tyro

from jax_ttt import flags, rules_files
from jax_ttt.config import game_facts, presets
from jax_ttt.config.device_flags import DeviceFlags, DistributedFlags
from jax_ttt.config.errors import (
    OTHER_NAMES,
    ConflictError,
    Refused,
    SettingError,
    UnknownGameError,
    flag_name,
)
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.ranges import Setting, parse_setting
from jax_ttt.config.settings import END_OF_START, Config, setting_type
from jax_ttt.runtime import standard_streams
from jax_ttt.text import tables

if TYPE_CHECKING:
    from jax_ttt.runtime.mesh import Hardware

DeviceName = Literal["auto", "cpu", "gpu", "tpu"]
ArgsT = TypeVar("ArgsT")
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories that a line can't show: control characters, bytes that are not
UTF-8, and line ends."""


@dataclasses.dataclass(frozen=True)
class Command(Generic[ArgsT]):
    """A command that users type."""

    module: str
    """The module that `python -m` runs."""
    args_type: type[ArgsT]
    """A dataclass: its docstring begins the help, and its fields are the flags."""
    main: Callable[[ArgsT], int]
    """The function that does the work and returns the exit code."""
    notes: str = ""
    """The text of the help after the docstring."""
    examples: Mapping[str, str] = field(default_factory=dict)
    """The words of example command lines, each with a description."""

    first: tuple[str, ...] = ()
    """The fields whose flags people use most, which begin the help; by default those of
    the command's own dataclass, and its device."""

    @property
    def has_rules(self) -> bool:
        """Whether the command has the flag `--rules`."""
        return any(flag.name == "rules" for flag in flags.flags_of(self.args_type()))

    @property
    def description(self) -> str:
        """The text before the flags in the help, wrapped for the terminal."""
        paragraphs = (inspect.getdoc(self.args_type) or "").split("\n\n")
        texts = [" ".join(text.split()) for text in paragraphs] + [self.notes]
        lines = [
            f"  {f'python -m {self.module} {words}'.rstrip()}\n      {text}"
            for words, text in self.examples.items()
        ]
        if lines:
            texts.append("\n".join(["Examples:", *lines]))
        paragraphs = "\n\n".join(text for text in texts if text).split("\n\n")
        return "\n\n".join(map(_wrapped, paragraphs))


def _wrapped(text: str) -> str:
    """Return a paragraph whose lines fit in the terminal.

    All lines but the first are indented: tyro joins a line that begins with a letter
    with the line before it.
    """
    wrapped: list[str] = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        wrapped += tables.wrapped_lines(line, f"{indent}    " if indent else "  ")
    return "\n".join(wrapped)


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
    """A game that a file outside the package registers."""

    rules: Path | None = None
    """A Python file that registers a game of your own (docs/use/own_rules.md)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PresetFlags:
    """The flags that decide on the defaults of the other flags."""

    preset: str | None = None
    env_id: str | None = None
    opponent: str | None = None
    grid: tuple[str, ...] = ()
    config: str | None = None
    resume: str | None = None
    learning_rate: str | None = None
    epsilon_start: str | None = None

    @property
    def has_game(self) -> bool:
        """Whether the game is given, by a flag or by saved settings."""
        from jax_ttt.files import run_folder  # imports NumPy

        if self.config is not None and run_folder.is_own_settings(self.config):
            fields = run_folder.own_fields(Path(self.config))
            return self.env_id is not None or "env_id" in fields
        return any(name is not None for name in (self.env_id, self.config, self.resume))

    def with_starts(self, config: Config) -> Config:
        """Return the settings with the given starts of schedules, and their ends.

        A start that is not allowed is left out: tyro refuses its flag.
        """
        starts: dict[str, Setting] = {}
        for name in END_OF_START:
            if (text := getattr(self, name)) is not None:
                with contextlib.suppress(SettingError):
                    starts[name] = parse_setting(name, setting_type(name), text)
        return config.replace(**starts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingFlags:
    """The settings of the agents that a command trains, and the devices it uses."""

    preset: Preset = "default"
    """Named settings, which the other flags change. Without this flag: default for
    self-play in tic_tac_toe, else plain. A flag that contradicts a setting of the
    preset is refused. This help shows the values of the preset."""
    config: Config = PRESETS["default"]
    user_game: UserGameFlags = field(default_factory=UserGameFlags)
    spread: DistributedFlags = field(default_factory=DistributedFlags)
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
    def with_defaults(cls, flags: PresetFlags) -> Self:
        """Return the arguments of the preset that the flags name or imply.

        An opponent of a sweep's grid counts as one that the flags name.
        """
        grid = [word.partition("=") for word in flags.grid]
        values = [text.split(",") for name, _, text in grid if name == "opponent"]
        opponents = [flags.opponent, *itertools.chain(*values)]
        preset = flags.preset or presets.default_preset(flags.env_id, *opponents)
        preset = preset if preset in PRESETS else "default"  # tyro refuses the name
        return cls(config=PRESETS[preset], preset=preset, source=f"preset {preset}")


def parse(command: Command[ArgsT], words: Sequence[str]) -> ArgsT:
    """Return the arguments of a command line.

    Words are read twice for a command that trains: a few flags decide on the defaults
    of all others, and tyro needs the defaults before it reads the words.

    Raises:
        SystemExit: tyro has printed the help, or the error.
        Refused: a file or player can't be used, or a given setting has no effect.
    """
    prog = f"python -m {command.module}"
    given_fields = _fields_of_flags(words)
    has_rules = "rules" in given_fields and command.has_rules
    if has_rules and (rules_file := rules_files.named_file(words)):
        from jax_ttt.runtime import compiling

        # Before the file runs: a registration may compile.
        compiling.use_program_cache("no_compile_cache" not in given_fields)
        rules_files.run_rules(rules_file)
    unchanged, defaults = None, None
    if issubclass(command.args_type, TrainingFlags):
        preset_flags, _ = tyro.cli(
            PresetFlags, args=words, prog=prog, add_help=False, return_unknown_args=True
        )
        # Words that are choices may be in capitals, see `flags`.
        preset_flags = dataclasses.replace(
            preset_flags,
            preset=preset_flags.preset and preset_flags.preset.lower(),
            env_id=preset_flags.env_id and preset_flags.env_id.lower(),
        )
        if has_rules and not preset_flags.has_game and not {"-h", "--help"} & {*words}:
            env_id = game_facts.default_game()
            words = [*words, "--env-id", env_id]
            given_fields.append("env_id")
            preset_flags = dataclasses.replace(preset_flags, env_id=env_id)
        unchanged = command.args_type.with_defaults(preset_flags)
        defaults = dataclasses.replace(
            unchanged,
            config=preset_flags.with_starts(unchanged.config),
            given_fields=tuple(given_fields),
        )
    defaults = command.args_type() if defaults is None else defaults
    names = {flag.name for flag in flags.flags_of(defaults)}
    for name in given_fields:
        ours = [other for other in OTHER_NAMES.get(name, ()) if other in names]
        if ours and name not in names:
            hint = f"did you mean {' or '.join(map(flag_name, ours))}?"
            raise Refused(f"there is no flag {flag_name(name)}; {hint}")
    try:
        args = flags.read(
            defaults,
            words=words,
            first=command.first,
            prog=prog,
            description=command.description,
        )
        if isinstance(args, TrainingFlags) and unchanged is not None:
            args.config.check_changes(unchanged.config)
            if args.user_game.rules is not None and args.spread.distributed:
                # The file uses JAX, which the processes must join before.
                raise Refused("--rules must be left out with --distributed")
    except ConflictError as error:
        if unchanged is None:
            raise
        note = defaults_note(unchanged.source)
        raise Refused(f"{error.args[0]}{note}") from None
    return args


def _fields_of_flags(words: Sequence[str]) -> list[str]:
    """Return the fields of the flags among the words.

    Raises:
        Refused: a flag is given twice, and tyro would use the last one; a word is
            empty, and as a path would be the current folder; or a line can't show it.
    """
    names = [word.partition("=")[0] for word in words if word.startswith("--")]
    fields = [name[2:].replace("-", "_") for name in names]
    counts = Counter(name.removeprefix("no_") for name in fields)
    for flag, name in zip(names, fields, strict=True):
        if counts[name.removeprefix("no_")] > 1:
            raise Refused(f"{flag} must be given once, and without its opposite")
    for previous, word in zip(("", *words), words, strict=False):
        if not word:
            place = f" after {previous}" if previous else ""
            raise Refused(f"can't use an empty word{place}")
        if word.startswith("--") and word.endswith("="):
            raise Refused(f"{word[:-1]} must not be empty")
        if any(unicodedata.category(letter) in _UNPRINTABLE for letter in word):
            raise Refused(f"can't use {word!r}: it has a control character")
    return fields


def message_with_advice(error: Refused, command: Command[ArgsT]) -> str:
    """Return an error's message; of a file for a user's game, with what to do."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, UnknownGameError):
        cause = cause.__cause__
    if cause is None or cause is error:  # the message has the advice
        return error.args[0]
    advice = "this command has no games of users"
    if command.has_rules:
        advice = "name the file that registers it with --rules"
    return f"{error.args[0]}; {advice}"


def defaults_note(source: str) -> str:
    """Return the end of a line: the source of the settings that no flag gives."""
    return f"; the other values come from {source}"


def report_interrupt(signal_number: int) -> int:
    """Print that a signal ended the work, and return the exit code."""
    standard_streams.print_stderr("error: interrupted")
    return 128 + signal_number


def player_or_newest_run(
    name: str | None, quiet: bool = False, otherwise: str = ""
) -> str:
    """Return the name of a player, by default the name of the newest run.

    The newest run is printed unless `quiet`; without a run, `otherwise` is returned.

    Raises:
        Refused: there is no run, and no name in `otherwise`.
    """
    if name is not None:
        return name
    from jax_ttt.files import run_folder

    try:
        newest = str(run_folder.newest_run().path)
    except Refused:
        if otherwise:
            return otherwise
        raise
    if not quiet:
        print(f"the newest run: {newest}", flush=True)
    return newest


def check_output_path(flag: str, path: Path | None) -> None:
    """Raise `Refused`, before any work, if a file can't be written there."""
    if path is None:
        return
    try:
        if not path.parent.is_dir():
            raise Refused(f"{flag} {path}: no folder {path.parent}")
        if path.is_dir():
            raise Refused(f"{flag} {path}: a folder, not a file")
        if not (path.exists() or path.is_symlink()):
            path.open("xb").close()  # permissions alone do not show whether it works
            path.unlink()
        elif path.is_file() and not path.is_symlink():  # opening a pipe would wait
            path.open("ab").close()
    except OSError as error:
        raise Refused(f"{flag} {path}: {error.strerror}") from None


def set_up_device(
    machine: MachineFlags, spread: DeviceFlags | None = None
) -> "Hardware":
    """Import JAX, choose the device or the devices, and use the program cache.

    Raises:
        Refused: there is no such device, or a setting of JAX prevents training.
    """
    with standard_streams.status_line("loading JAX"):
        from jax_ttt.runtime import compiling, mesh

        hardware = mesh.use_devices(machine.device, spread or DeviceFlags())
        compiling.use_program_cache(not machine.no_compile_cache)
    return hardware
