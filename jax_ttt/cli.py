"""The parts that commands share: parsing, the choice of a device, checks of files.

tyro makes the flags from dataclasses: the fields' types, ranges and docstrings become
the flags, their checks and their help. argparse would need a second description of each
field.

Imports no JAX, so that bad flags are refused immediately.
"""

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, Self, TypeVar

import tyro

from jax_ttt import flags, rules_files
from jax_ttt.config import game_facts, presets
from jax_ttt.config.device_flags import DeviceFlags, DistributedFlags
from jax_ttt.config.errors import (
    ConflictError,
    Refused,
    UnknownGameError,
    flag_name,
    similar_words,
)
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config, setting_types
from jax_ttt.runtime import standard_streams
from jax_ttt.text import tables

if TYPE_CHECKING:
    from jax_ttt.runtime.mesh import Hardware

DeviceName = Literal["auto", "cpu", "gpu", "tpu"]
ArgsT = TypeVar("ArgsT")
GivenFlags = dict[str, list[str]]
"""The words after each flag of a command line, by the name of the flag's field."""


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


def first_word(given: GivenFlags, field: str) -> str | None:
    """Return the word after the flag of a field; None without flag or word."""
    return next(iter(given.get(field, ())), None)


def given_flags(words: Sequence[str]) -> GivenFlags:
    """Return the words after each flag, by the name of the flag's field.

    Raises:
        Refused: a flag is given twice; tyro would use the last one.
    """
    given: GivenFlags = {}
    values: list[str] = []
    for word in words:
        if not word.startswith("--"):
            values.append(word)
            continue
        name, _, value = word.partition("=")
        field = name.removeprefix("--").replace("-", "_")
        switch = field.removeprefix("no_")
        if given.keys() & {switch, f"no_{switch}"}:
            raise Refused(f"{name} must be given once, and without its opposite")
        given[field] = values = [value] if value else []
    return given


def parse(command: Command[ArgsT], words: Sequence[str]) -> ArgsT:
    """Return the arguments of a command line.

    Raises:
        SystemExit: tyro has printed the help, or the error.
        Refused: a file or player can't be used, or a given setting has no effect.
    """
    given = given_flags(words)
    defaults = command.args_type()
    names = [name for flag in flags.flags_of(defaults) for name in flag.words]
    for name in given:
        if name not in [*names, "help"]:
            ours = [flag_name(other) for other in similar_words(name, names)]
            hint = f"; did you mean {' or '.join(ours)}?" if ours else ""
            raise Refused(f"there is no flag {flag_name(name)}{hint}")
    if (rules_file := first_word(given, "rules")) is not None:
        rules_files.run_rules(rules_file, "no_compile_cache" not in given)
    if isinstance(defaults, TrainingFlags):
        if "rules" in given and not _has_game(given) and "help" not in given:
            env_id = game_facts.default_game()
            words, given["env_id"] = [*words, "--env-id", env_id], [env_id]
        defaults = type(defaults).with_defaults(given)
        defaults = dataclasses.replace(defaults, given_fields=tuple(given))
    values = flags.read(
        defaults,
        words=words,
        first=command.first,
        prog=f"python -m {command.module}",
        description=command.description,
    )
    if not isinstance(defaults, TrainingFlags):
        return flags.with_values(defaults, values)
    try:
        fields = {name.removeprefix("no_") for name in given} & setting_types().keys()
        settings = {name: values[name] for name in fields}
        config = defaults.config.replace(**settings)
        config.check_changes(defaults.config)
    except ConflictError as error:
        raise Refused(f"{error.args[0]}{defaults_note(defaults.source)}") from None
    args = dataclasses.replace(flags.with_values(defaults, values), config=config)
    if args.user_game.rules is not None and args.spread.distributed:
        # The file uses JAX, which the processes must join before.
        raise Refused("--rules must be left out with --distributed")
    return args


def _has_game(given: GivenFlags) -> bool:
    """Return whether flags name the game of a training, or saved settings do."""
    from jax_ttt.files import run_folder  # imports NumPy

    saved = first_word(given, "config")
    if saved is not None and run_folder.is_own_settings(saved):
        return "env_id" in given or "env_id" in run_folder.own_fields(Path(saved))
    return bool(given.keys() & {"env_id", "config", "resume"})


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
