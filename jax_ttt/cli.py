"""What the commands share: how words become arguments, the device, checks of files.

tyro makes the flags from the dataclasses: their types, ranges and docstrings are the
flags, checks and help. argparse would need a second description of each field.

Imports no JAX, so that bad flags are refused immediately.
"""

import dataclasses
import importlib.util
import inspect
import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, Self, TypeVar

import tyro

from jax_ttt.config import presets
from jax_ttt.config.device_flags import DeviceFlags, DistributedFlags
from jax_ttt.config.errors import ConflictError, UsageError
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config
from jax_ttt.runtime import streams

if TYPE_CHECKING:
    from jax_ttt.runtime.mesh import Hardware

DeviceName = Literal["auto", "cpu", "gpu", "tpu"]
ArgsT = TypeVar("ArgsT")
_UNPRINTED = ("Cc", "Cs", "Zl", "Zp")
"""Categories of Unicode: controls, bytes that are not UTF-8, ends of lines."""


@dataclasses.dataclass(frozen=True)
class Command(Generic[ArgsT]):
    """A command that people type."""

    module: str
    """The module that `python -m` runs."""
    args_type: type[ArgsT]
    """A dataclass: its docstring is what the help begins with, its fields are flags."""
    main: Callable[[ArgsT], int]
    """Do what the arguments say, and return the exit code."""
    notes: str = ""
    """What the help says after the docstring."""
    examples: Mapping[str, str] = field(default_factory=dict)
    """Words of command lines, with what they do."""

    @property
    def description(self) -> str:
        """What the help begins with."""
        texts = [inspect.getdoc(self.args_type), self.notes]
        lines = [
            f"  {f'python -m {self.module} {words}'.rstrip()}\n      {text}"
            for words, text in self.examples.items()
        ]
        if lines:
            texts.append("\n".join(["Examples:", *lines]))
        return "\n\n".join(text for text in texts if text)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MachineFlags:
    """Where a command runs."""

    device: DeviceName = "auto"
    """Device to compute on; a device that is absent is refused. auto: the platform that
    $JAX_DEFAULT_DEVICE names, else the best one that JAX finds."""
    no_compile_cache: tyro.conf.FlagCreatePairsOff[bool] = False
    """Neither read nor write the cache of compiled programs. Its folder is that of
    $JAX_COMPILATION_CACHE_DIR, else one in the user's cache folder."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PresetFlags:
    """The flags that decide on the defaults of the others."""

    preset: str | None = None
    env_id: str | None = None
    opponent: str | None = None
    grid: tuple[str, ...] = ()
    config: str | None = None
    resume: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingFlags:
    """What a command trains, and where."""

    preset: Preset = "default"
    """Named settings, which the other flags change. Without this flag: default for
    self-play in tic_tac_toe, else plain. A flag that contradicts a setting of the
    preset is refused. This help shows the values of the preset."""
    config: Config = PRESETS["default"]
    spread: DistributedFlags = field(default_factory=DistributedFlags)
    machine: MachineFlags = field(default_factory=MachineFlags)
    given: tyro.conf.Suppress[tuple[str, ...]] = ()
    """The fields whose flags are given."""
    source: tyro.conf.Suppress[str] = ""
    """What the settings are from whose flags are not given."""

    @classmethod
    def usual(cls, basis: PresetFlags) -> Self:
        """Return the arguments of the preset that is named, or implied."""
        grids = [word.partition("=") for word in basis.grid]
        swept = [text.split(",") for name, _, text in grids if name == "opponent"]
        opponents = [basis.opponent, *itertools.chain(*swept)]
        preset = basis.preset or presets.default_preset(basis.env_id, *opponents)
        preset = preset if preset in PRESETS else "default"  # tyro refuses it
        return cls(config=PRESETS[preset], preset=preset, source=f"preset {preset}")


def parse(command: Command[ArgsT], words: Sequence[str]) -> ArgsT:
    """Return the arguments; those of training have the defaults of their preset.

    Raises:
        SystemExit: the help is printed, or what is wrong.
        Refused: what a flag names can't be used, or a setting that is given has no
            effect.
    """
    prog = f"python -m {command.module}"
    given = _given(words)
    usual = None
    if issubclass(command.args_type, TrainingFlags):
        basis, _ = tyro.cli(
            PresetFlags, args=words, prog=prog, add_help=False, return_unknown_args=True
        )
        usual = command.args_type.usual(basis)
        usual = dataclasses.replace(usual, given=tuple(given))
    try:
        args = tyro.cli(
            command.args_type,
            args=words,
            default=usual,
            prog=prog,
            description=command.description,
            config=(tyro.conf.OmitArgPrefixes,),
        )
    except SystemExit as stop:
        if usual is not None and _is_of_conflict(stop):
            streams.print_stderr(defaults_note(usual.source))
        raise
    if isinstance(args, TrainingFlags) and usual is not None:
        try:
            args.config.check_changes(usual.config)
        except ConflictError as error:
            raise UsageError(f"{error.args[0]} {defaults_note(usual.source)}") from None
    return args


def _given(words: Sequence[str]) -> list[str]:
    """Return the fields of the flags among the words.

    Raises:
        UsageError: a flag is given twice, of which tyro would take the last; a word is
            empty, which would be the current folder, or can't be shown in a line.
    """
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    names = [flag[2:].replace("-", "_") for flag in flags]
    times = Counter(name.removeprefix("no_") for name in names)
    for flag, name in zip(flags, names, strict=True):
        if times[name.removeprefix("no_")] > 1:
            raise UsageError(f"{flag} must be given once, and without its opposite")
    for before, word in zip(("", *words), words, strict=False):
        if not word:
            raise UsageError(f"can't use an empty word{before and f' after {before}'}")
        if word.startswith("--") and word.endswith("="):
            raise UsageError(f"{word[:-1]} must not be empty")
        if any(unicodedata.category(letter) in _UNPRINTED for letter in word):
            raise UsageError(f"can't use {word!r}: it has a control character")
    return names


def _is_of_conflict(stop: SystemExit) -> bool:
    """Return whether settings that contradict each other made tyro stop."""
    error: BaseException | None = stop
    while error is not None and not isinstance(error, ConflictError):
        error = error.__context__
    return error is not None


def defaults_note(source: str) -> str:
    """Return what the settings are from that no flag gives, as a note in brackets."""
    return f"(the others are those of {source})"


def report_interrupt(signal_number: int) -> int:
    """Say that a signal ended the work; return the exit code."""
    streams.print_stderr("error: interrupted")
    return 128 + signal_number


def require_package(module: str, extra: str, flag: str) -> None:
    """Raise `UsageError` if an optional package is not there."""
    spec = importlib.util.find_spec(module)
    # A plain folder of that name where we are started is found too, without an origin.
    if spec is None or spec.origin is None:
        raise UsageError(
            f"{flag} needs {module}, which is not installed: "
            f"pip install 'jax_ttt[{extra}]', or pip install {module}"
        )


def player_or_newest_run(
    name: str | None, quiet: bool = False, otherwise: str = ""
) -> str:
    """Return a player's name, or the newest run's, which is printed unless `quiet`.

    Raises:
        UsageError: there is no run, and no name in `otherwise` for that case.
    """
    if name is not None:
        return name
    from jax_ttt.files import run_folder

    try:
        newest = str(run_folder.newest_run().path)
    except UsageError:
        if otherwise:
            return otherwise
        raise
    if not quiet:
        print(f"the newest run: {newest}", flush=True)
    return newest


def check_output_path(flag: str, path: Path | None) -> None:
    """Raise `UsageError`, before any work, if a file can't be written there."""
    if path is None:
        return
    try:
        if not path.parent.is_dir():
            raise UsageError(f"{flag} {path}: no folder {path.parent}")
        if path.is_dir():
            raise UsageError(f"{flag} {path}: a folder, not a file")
        if not (path.exists() or path.is_symlink()):
            path.open("xb").close()  # permissions alone do not say it
            path.unlink()
        elif path.is_file() and not path.is_symlink():  # a pipe would wait
            path.open("ab").close()
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error.strerror}") from None


def set_up_device(
    machine: MachineFlags, spread: DeviceFlags | None = None
) -> "Hardware":
    """Make JAX ready to compute, and return what it computes on.

    That is one device, or those of `spread`.

    Raises:
        UsageError: there is no such device, or JAX is set up in a way that can't work.
    """
    with streams.status_line("loading JAX"):
        from jax_ttt.runtime import compiling, mesh

        hardware = mesh.use_devices(machine.device, spread or DeviceFlags())
        compiling.use_program_cache(not machine.no_compile_cache)
    return hardware
