"""List the commands, or run one.

python -m jax_ttt
jax-ttt train --seed 1
"""

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

COMMANDS = {
    "train": "train an agent, prove whether it can be beaten, save it",
    "evaluate": "grade a saved agent or another player",
    "play": "play against a saved agent or another player",
    "web": "serve a page to play on and to watch agents learn",
    "runs": "list the saved runs",
    "plot": "draw a run: curves, a game, the values of a position",
    "arena": "let players play each other in both seats, and rank them",
    "sweep": "train many agents over seeds and settings, and count the proofs",
}
"""The commands in their order of use, and what they do."""


def main() -> int:
    """Run the command that the first word names; without one, list all commands."""
    from jax_ttt.runtime import interrupts

    interrupts.leave_on_import()
    words = sys.argv[1:]
    if not words or words[0] not in COMMANDS:
        from jax_ttt import cli

        return cli.guarded(_about)(words)
    sys.argv = [f"{sys.argv[0]} {words[0]}", *words[1:]]
    command = module_of(words[0]).main
    from jax_ttt.scaling import supervised

    return supervised.run(command)


def module_of(command: str) -> ModuleType:
    """Return the module of a command, which may have a folder of its own."""
    found = importlib.import_module(f"jax_ttt.{command}")
    if hasattr(found, "__path__"):
        return importlib.import_module(f"jax_ttt.{command}.__main__")
    return found


def _about(words: Sequence[str] | None) -> int:
    """List the commands, print the version, or raise `UsageError`."""
    from jax_ttt import __version__
    from jax_ttt.config import errors, suggestions

    name = words[0] if words else "--help"
    if name in ("-h", "--help"):
        print(command_list())
    elif name == "--version":
        print(f"jax_ttt {__version__}")
    else:
        raise errors.UsageError(suggestions.one_of("the command", COMMANDS, name))
    return 0


def command_list() -> str:
    """Return the commands, a line each."""
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
