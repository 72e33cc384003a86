"""The list of the commands, and the exit code of a command.

python -m jax_ttt
jax-ttt train --seed 1

Exit codes: 0 done, 1 failed, 2 bad usage or file, 3 training diverged, 129 hung up,
130 Ctrl-C, 141 the reader of the output has ended, 143 terminated.
"""

import atexit
import dataclasses
import gc
import importlib
import os
import runpy
import signal
import sys
import traceback
from collections.abc import Sequence

import tyro

from jax_ttt import __version__, completion, early_interrupts, flags
from jax_ttt.cli import (
    ArgsT,
    Command,
    parse,
)
from jax_ttt.config.errors import ConflictError, Refused, did_you_mean
from jax_ttt.config.shared_flags import TrainingFlags
from jax_ttt.runtime import standard_streams

COMMANDS = {
    "train": "train an agent, prove whether it can be beaten, save it",
    "evaluate": "grade a saved agent or another player",
    "correct": "find the corrections that make an agent provable",
    "play": "play against a saved agent or another player",
    "web": "serve a page to play on and to watch agents learn",
    "runs": "list the saved runs",
    "plot": "draw a run: curves, a game, the values of a position",
    "arena": "let players play each other in both seats, and rank them",
    "sweep": "train many agents over seeds and settings, and count the proofs",
}
"""The commands in their order of use, and their descriptions."""
_TRACEBACK = "JAX_TTT_TRACEBACK"
_NO_MEMORY = (
    "out of memory: lower --num-envs, --hidden-size, --filters, --replay-capacity, "
    "--eval-games, --games or --at-once"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Learn board games by self-play, and prove how strong an agent is."""

    command: tyro.conf.Positional[str | None] = None
    """The command to run."""
    version: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the version."""
    completion: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print a script that completes jax-ttt in bash and zsh. Use it by
    eval "$(jax-ttt --completion)"."""


def main() -> int:
    """Run the command that the first word names; without a word, list all commands."""
    name = sys.argv[1] if sys.argv[1:] else ""
    if name not in COMMANDS:
        command = Command(
            module="jax_ttt", args_type=Args, main=list_commands, notes=_command_list()
        )
        return run_command(command)
    del sys.argv[1]
    runpy.run_module(f"jax_ttt.{name}", run_name="__main__", alter_sys=True)
    return 0


def list_commands(args: Args) -> int:
    """List the commands, or print the version or the script of a shell.

    Raises:
        Refused: the first word is not the name of a command.
    """
    if args.command is not None:
        hint = did_you_mean(args.command, COMMANDS)
        raise Refused(f"there is no command {args.command!r}{hint}")
    if args.completion:
        print(_completion(args), end="")
    else:
        print(f"jax_ttt {__version__}" if args.version else _command_list())
    return 0


def _completion(args: Args) -> str:
    """Return the script with which a shell completes the commands."""
    defaults: dict[str, object] = {}
    for name in COMMANDS:
        module = "jax_ttt.web.__main__" if name == "web" else f"jax_ttt.{name}"
        defaults[name] = importlib.import_module(module).COMMAND.args_type()
    own = [f"--{flag.field}" for flag in flags.flags_of(args) if flag.is_switch]
    return completion.shell_script(defaults, [*own, "--help"])


def run_command(command: Command[ArgsT], words: Sequence[str] | None = None) -> int:
    """Run a command with these words, by default the words of this process.

    Returns the exit code. An error that a user can cause becomes one line on stderr, or
    a message of the parser. With `JAX_TTT_TRACEBACK=1` its traceback is printed too.
    """
    if words is None:
        # Imports and traces make many objects that stay, and each collection would
        # look at all of them.
        gc.set_threshold(500_000)
        atexit.register(gc.freeze)
    standard_streams.replace_closed()
    args = None
    try:
        if words is None and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if early_interrupts:
                raise KeyboardInterrupt
        try:
            args = parse(command, sys.argv[1:] if words is None else words)
        except SystemExit as stop:  # the parser has printed the help, or the error
            return stop.code if isinstance(stop.code, int) else 0
        code = command.main(args)
        sys.stdout.flush()  # an error at exit would be a traceback
        return code
    except ConflictError as error:
        if not isinstance(args, TrainingFlags):
            return _fail(2, error.args[0])
        # A value of a grid contradicts a setting.
        return _fail(2, f"{error.args[0]}{args.source_note}")
    except Refused as error:
        return _fail(2, error.args[0])  # names a setting's flag
    except KeyboardInterrupt:
        return _fail(130, "interrupted")
    except BrokenPipeError:
        # The program that reads our output has ended, and closing it must not fail.
        standard_streams.redirect_to_null(sys.stdout)
        return 141
    except FloatingPointError as error:
        return _fail(3, str(error))
    except OSError as error:
        if error.filename is not None:
            return _fail(1, str(error))
        standard_streams.redirect_to_null(sys.stdout)
        return _fail(1, f"cannot write: {error.strerror}")
    except (MemoryError, RuntimeError) as error:  # JAX raises RuntimeError
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            return _fail(1, _NO_MEMORY)
        raise


def _fail(code: int, message: str) -> int:
    """Print an error on one line of stderr, and return the exit code.

    With `JAX_TTT_TRACEBACK=1` the traceback of the handled error comes first.
    """
    if os.environ.get(_TRACEBACK, "0") not in ("", "0"):
        standard_streams.print_stderr(traceback.format_exc().rstrip())
    standard_streams.print_stderr(f"error: {message}")
    return code


def _command_list() -> str:
    """Return the usage and the commands, one on each line."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: python -m jax_ttt COMMAND [FLAGS], or jax-ttt COMMAND [FLAGS]",
            "",
            *lines,
            "",
            "python -m jax_ttt COMMAND --help describes the flags of a command.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
