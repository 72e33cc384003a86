"""What the commands share: parsing, refusals, exit codes, the device.

Exit codes: 0 done, 1 failed, 2 bad usage or file, 3 training diverged, 129 hung up,
130 Ctrl-C, 143 terminated. Imports no JAX, so that bad flags are refused immediately.
"""

import argparse
import dataclasses
import importlib.util
import itertools
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import tyro

from jax_ttt.config import presets, suggestions
from jax_ttt.config.catalogue import ENUMERABLE
from jax_ttt.config.command_line import parsing
from jax_ttt.config.command_line.parsing import parse as parse  # the commands' too
from jax_ttt.config.command_line.wrong_words import flag as flag  # the commands' too
from jax_ttt.config.errors import Refused, SettingError, UsageError
from jax_ttt.config.origins import naming_origins
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.ranges import Words
from jax_ttt.config.settings import PART_OF, RULES, Config, Parts
from jax_ttt.files.run_folder import read_settings
from jax_ttt.runtime import process, streams
from jax_ttt.runtime.interrupts import SecondSignal
from jax_ttt.scaling.flags import Devices

if TYPE_CHECKING:
    from jax_ttt.scaling.mesh import Hardware

Device = Literal["auto", "cpu", "gpu", "tpu"]
Command = Callable[[Sequence[str] | None], int]
_TRACEBACK = "JAX_TTT_TRACEBACK"
_NO_MEMORY = "out of memory: lower --num-envs, --games, --at-once or --replay-capacity"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machine:
    """Where a command runs."""

    device: Device = "auto"
    """Device to compute on; a device that is absent is refused. auto: the platform that
    $JAX_DEFAULT_DEVICE names, else the best one that JAX finds."""
    no_compile_cache: tyro.conf.FlagCreatePairsOff[bool] = False
    """Neither read nor write the cache of compiled programs. Its folder is that of
    $JAX_COMPILATION_CACHE_DIR, else one in the user's cache folder."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run(Parts, Machine):
    """What a command trains, and where; the parts of the settings are its fields."""

    preset: Preset = "default"
    """Named settings, which the other flags change. Without this flag: default for
    self-play in tic_tac_toe, else plain. A flag that contradicts a setting of the
    preset is refused; settings of the preset that have no effect beside the flags are
    dropped. This help shows the values of default."""

    given: tyro.conf.Suppress[tuple[str, ...]] = ()  # settings whose flags are given
    source: tyro.conf.Suppress[str] = ""  # what sets the others, in words

    @property
    def config(self) -> Config:
        """The settings; raises `SettingError`."""
        return self.checked()


RunT = TypeVar("RunT", bound=Run)


def parse_settings(
    args_type: type[RunT], argv: Sequence[str] | None, prog: str
) -> RunT:
    """Return arguments whose `config` has the defaults of their `preset`, or file.

    Raises:
        Refused: a flag can't be read; its setting is not allowed, or has no effect.
    """
    usual = _usual(args_type, parsing.words(argv))
    args = parsing.parse(args_type, argv, prog, usual)
    args = dataclasses.replace(args, given=_given(argv))
    changes = {name: args.value(name) for name in args.given}
    with naming_origins(usual, usual.source, changes):
        config = usual.config.replace(**changes)
        config.check_effect(args.given)
    return dataclasses.replace(args, **config.parts)


def _usual(args_type: type[RunT], words: Sequence[str]) -> RunT:
    """Return the arguments of the preset or the file that the words name, or imply."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("preset", "env-id", "opponent", "config", "resume"):
        parser.add_argument(f"--{name}", nargs="?")
    parser.add_argument("--grid", nargs="*", default=[])
    first, _ = parser.parse_known_args(words)
    resumed = getattr(args_type, "resumed", None)
    if first.resume and resumed is not None:
        _check_resume(first)
        return resumed(Path(first.resume))
    if first.config and "saved" in {f.name for f in dataclasses.fields(args_type)}:
        found = _of_file(args_type, Path(first.config), first.preset)
        return _of_game(found, first.env_id)
    grids = [word.partition("=") for word in first.grid]
    swept = [text.split(",") for field, _, text in grids if field == "opponent"]
    opponents = [first.opponent, *itertools.chain(*swept)]
    preset = first.preset or presets.usual(first.env_id, *opponents)
    preset = preset if preset in PRESETS else "default"  # the parser refuses it
    usual = args_type(preset=preset, source=f"preset {preset}")
    found = dataclasses.replace(usual, **PRESETS[preset].parts)
    return _of_game(found, first.env_id)


def _of_game(args: RunT, env_id: str | None) -> RunT:
    """Return the arguments with the defaults of their game, or of `env_id` if given."""
    if not hasattr(args, "snapshots"):
        return args
    is_enumerable = (env_id or args.run.env_id) in ENUMERABLE
    return dataclasses.replace(args, **{"snapshots": is_enumerable})


def _check_resume(first: argparse.Namespace) -> None:
    """Raise `UsageError` if other flags name settings than those of the run."""
    for name in ("preset", "config"):
        if value := getattr(first, name):
            raise UsageError(f"--{name} must be left out with --resume, got {value!r}")


def _of_file(args_type: type[RunT], path: Path, preset: str | None) -> RunT:
    """Return the arguments of the run that a file describes."""
    if preset:
        raise UsageError(f"--preset must be left out with --config, got {preset!r}")
    config, preset, seed = read_settings(path)
    usual = args_type(preset=preset, source=str(path))
    return dataclasses.replace(usual, **config.parts, seed=seed)


def _given(argv: Sequence[str] | None) -> tuple[str, ...]:
    """Return the fields of the settings whose flags are on the command line."""
    flags = [word for word in parsing.words(argv) if word.startswith("--")]
    names = {name[2:].replace("-", "_") for name in flags}
    names |= {name.removeprefix("no_") for name in names}
    return tuple(sorted(names & PART_OF.keys()))


def guarded(command: Command) -> Command:
    """Turn what a user can cause into one line on stderr and an exit code.

    The variable `JAX_TTT_TRACEBACK=1` also shows the error's traceback.
    """

    def main(argv: Sequence[str] | None) -> int:
        if argv is None:
            process.collect_rarely()
        streams.replace_closed()
        return _exit_code(command, argv)

    main.__doc__ = command.__doc__
    return main


def _exit_code(command: Command, argv: Sequence[str] | None) -> int:
    try:
        code = command(argv)
        sys.stdout.flush()  # at exit, an error would be a traceback
        return code
    except Refused as error:
        return _fail(2, _refusal(error))
    except SecondSignal as error:
        return _fail(128 + error.number, str(error))
    except KeyboardInterrupt:
        return _fail(130, "interrupted")
    except BrokenPipeError:
        # The program that read our output has ended: closing it must not fail too.
        streams.drop(sys.stdout)
        return 141
    except FloatingPointError as error:
        return _fail(3, str(error))
    except OSError as error:
        if error.filename is not None:
            return _fail(1, str(error))
        streams.drop(sys.stdout)
        return _fail(1, f"cannot write: {error.strerror}")
    except (MemoryError, RuntimeError) as error:  # JAX raises the latter
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            return _fail(1, str(error) if "are free: " in str(error) else _NO_MEMORY)
        raise


def _refusal(error: Refused) -> str:
    """Return what is refused; of a setting also where it comes from."""
    if not isinstance(error, SettingError):
        return str(error)
    name, rule = flag(error.field), RULES.get(error.field)
    if isinstance(rule, Words) and error.rule == str(rule):
        return suggestions.one_of(name, rule.allowed, str(error.value))
    return error.text(name)


def interrupted(signal_number: int) -> int:
    """Say that a signal ended the work; return the exit code."""
    return _fail(128 + signal_number, "interrupted")


def require(module: str, extra: str, flag: str) -> None:
    """Raise `UsageError` if an optional package is not there."""
    spec = importlib.util.find_spec(module)
    # A plain folder of that name where we are started is found too, without an origin.
    if spec is None or spec.origin is None:
        raise UsageError(
            f"{flag} needs {module}, which is not installed: "
            f"pip install 'jax_ttt[{extra}]', or pip install {module}"
        )


def named_or_newest(name: str | None, quiet: bool = False, otherwise: str = "") -> str:
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


def check_output(flag: str, path: Path | None) -> None:
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


def _fail(code: int, message: str) -> int:
    """Say what is wrong in one line on stderr; return the exit code.

    With `$JAX_TTT_TRACEBACK` the traceback of the error that is handled comes first.
    """
    if os.environ.get(_TRACEBACK, "0") not in ("", "0") and sys.exc_info()[1]:
        streams.tell(traceback.format_exc().rstrip())
    streams.tell(f"error: {message}")
    return code


def set_up(machine: Machine) -> "Hardware":
    """Make JAX ready to compute, and return what it computes on.

    Raises:
        UsageError: there is no such device, or JAX is set up in a way that can't work.
    """
    with streams.status("loading JAX"):
        from jax_ttt.runtime import compile_cache
        from jax_ttt.scaling import mesh

        spread = machine if isinstance(machine, Devices) else Devices()
        hardware = mesh.use_devices(machine.device, spread)
        compile_cache.use(not machine.no_compile_cache)
    return hardware
