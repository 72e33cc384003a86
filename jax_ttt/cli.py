"""What the commands share: parsing, refusals, exit codes, the device.

Exit codes: 0 done, 1 failed, 2 bad usage or file, 3 training diverged, 129 hung up,
130 Ctrl-C, 143 terminated. Imports no JAX, so that bad flags are refused immediately.
"""

import argparse
import dataclasses
import functools
import importlib.util
import inspect
import itertools
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import tyro
from tqdm import tqdm

from jax_ttt.config import presets
from jax_ttt.config.errors import Refused, SettingError, UsageError
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import PART_OF, Config, Parts
from jax_ttt.runtime import compile_cache, compile_events, streams

Device = Literal["auto", "cpu", "gpu", "tpu"]
ArgsT = TypeVar("ArgsT")
Command = Callable[[Sequence[str] | None], int]


def flag(field: str) -> str:
    """Return the flag that sets a field, for instance `--num-envs`."""
    return "--" + field.replace("_", "-")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machine:
    """Where a command runs."""

    device: Device = "auto"
    """Where to run; a device that is asked for and absent is refused."""
    no_compile_cache: tyro.conf.FlagCreatePairsOff[bool] = False
    """Neither read nor write the cache of compiled programs, in the user's cache folder
    or in $JAX_COMPILATION_CACHE_DIR."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run(Parts, Machine):
    """What a command trains, and where.

    The parts of the settings are its fields, so that `--help` shows a box for each.
    """

    preset: Preset = "default"
    """Named settings that the other flags then change; by default those named default,
    and plain in other games or against an opponent."""

    given: tyro.conf.Suppress[tuple[str, ...]] = ()  # settings whose flags are given

    @property
    def config(self) -> Config:
        """The settings; raises `SettingError`."""
        return self.checked()


RunT = TypeVar("RunT", bound=Run)


def parse(
    args_type: type[ArgsT],
    argv: Sequence[str] | None,
    prog: str,
    defaults: ArgsT | None = None,
    description: str | None = None,
) -> ArgsT:
    """Return the arguments, those of `defaults` where a flag is not given.

    `description` is what `--help` begins with, by default the type's docstring.
    `--help` and flags that can't be read end the program, with 0 and 2.
    """
    words = sys.argv[1:] if argv is None else argv
    if {"-h", "--help"} & set(words):
        print(_wrapped(description or args_type.__doc__ or ""), end="\n\n")
    # `--flag=value` as two words: the parser then guesses what a slip was meant to be.
    pairs = [w.split("=", 1) if w.startswith("--") else [w] for w in words]
    command = functools.partial(
        tyro.cli,
        args_type,
        args=[part for pair in pairs for part in pair],
        prog=f"python -m jax_ttt.{prog}",
        description="",  # printed above: the parser does not wrap it
        config=(tyro.conf.OmitArgPrefixes,),
    )
    return command() if defaults is None else command(default=defaults)


def _wrapped(text: str) -> str:
    """Return a docstring's paragraphs as wide as the terminal."""
    width = shutil.get_terminal_size().columns
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(textwrap.fill(part, width) for part in paragraphs)


def parse_settings(
    args_type: type[RunT], argv: Sequence[str] | None, prog: str
) -> RunT:
    """Return arguments whose `config` has the defaults of their `preset`.

    Raises:
        SettingError: a flag's setting is not allowed, or has no effect.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("preset", "env-id", "opponent"):
        parser.add_argument(f"--{name}", nargs="?")
    parser.add_argument("--grid", nargs="*", default=[])
    first, _ = parser.parse_known_args(argv)
    grids = [word.partition("=") for word in first.grid]
    swept = [text.split(",") for field, _, text in grids if field == "opponent"]
    opponents = [first.opponent, *itertools.chain(*swept)]
    preset = first.preset or presets.usual(first.env_id, *opponents)
    preset = preset if preset in PRESETS else "default"  # the parser refuses it
    usual = args_type(**PRESETS[preset].parts, preset=preset)
    args = parse(args_type, argv, prog, usual)
    given = _given(argv)
    config = PRESETS[preset].replace(**{name: args.value(name) for name in given})
    config.check_effect(given)
    return dataclasses.replace(args, **config.parts, given=given)


def _given(argv: Sequence[str] | None) -> tuple[str, ...]:
    """Return the fields of the settings whose flags are on the command line."""
    words = sys.argv[1:] if argv is None else argv
    flags = [word.split("=")[0] for word in words if word.startswith("--")]
    names = {name[2:].replace("-", "_") for name in flags}
    names |= {name.removeprefix("no_") for name in names}
    return tuple(sorted(names & PART_OF.keys()))


def guarded(command: Command) -> Command:
    """Turn what a user can cause into one line on stderr and an exit code."""

    def main(argv: Sequence[str] | None) -> int:
        with streams.usable():
            return _exit_code(command, argv)

    main.__doc__ = command.__doc__
    return main


def _exit_code(command: Command, argv: Sequence[str] | None) -> int:
    try:
        code = command(argv)
        sys.stdout.flush()  # at exit, an error would be a traceback
        return code
    except SettingError as error:
        return _fail(
            2, f"{flag(error.field)} must be {error.rule}, got {error.value!r}"
        )
    except Refused as error:
        return _fail(2, str(error))
    except KeyboardInterrupt as error:  # or EndedAtOnce
        return _fail(getattr(error, "code", 130), str(error) or "interrupted")
    except BrokenPipeError:
        # Whoever read our output has gone; don't complain on closing it either.
        streams.drop(sys.stdout)
        return 141
    except FloatingPointError as error:
        return _fail(3, str(error))
    except OSError as error:
        if error.filename is not None:
            return _fail(1, str(error))
        streams.flush()
        return _fail(1, f"cannot write: {error.strerror}")
    except (MemoryError, RuntimeError) as error:
        # JAX raises the latter; any other RuntimeError is a fault of ours.
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            return _fail(
                1,
                "out of memory: try fewer --num-envs, --games or --at-once, "
                "or a smaller --replay-capacity",
            )
        raise


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


def check_output(flag: str, path: Path | None) -> None:
    """Raise `UsageError`, before any work, if a file can't be written there."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise UsageError(f"{flag} {path}: no folder {path.parent}")
    if path.is_dir():
        raise UsageError(f"{flag} {path}: a folder, not a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{flag} {path}: not allowed to write there")


def _fail(code: int, message: str) -> int:
    streams.tell(f"error: {message}")
    return code


def set_up(machine: Machine, seconds: int) -> str:
    """Make JAX ready to compute, and return the device's name.

    `seconds` are what the command's programs take to compile, about, for a terminal.

    Raises:
        UsageError: there is no such device, or JAX is set up in a way that can't work.
    """
    from jax_ttt.runtime import devices

    try:
        device = devices.choose_device(machine.device)
    except devices.DeviceError as error:
        raise UsageError(str(error)) from None
    kept = compile_cache.use(not machine.no_compile_cache)
    if sys.stderr.isatty():
        announce_compiling(seconds, kept)
    return device


def announce_compiling(seconds: int, kept: bool) -> None:
    """Let the terminal say that programs compile, as soon as they do."""
    text = f"compiling, about {seconds} s"

    def say() -> None:
        tqdm.write(f"{text} the first time; kept for the next", file=sys.stderr)

    if kept:
        compile_events.Notice(say)
    else:
        streams.tell(f"{text}: nothing is kept")
