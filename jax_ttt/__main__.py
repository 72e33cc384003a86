"""List the commands, or run one.

python -m jax_ttt
jax-ttt train --seed 1
"""

import runpy
import sys
from collections.abc import Sequence

from jax_ttt import __version__, cli
from jax_ttt.config import errors, suggestions

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
    words = sys.argv[1:]
    if not words or words[0] not in COMMANDS:
        return _about(words)
    del sys.argv[1]
    # Run, not imported: the module `jax_ttt.train` would replace the function.
    runpy.run_module(f"jax_ttt.{words[0]}", run_name="__main__", alter_sys=True)
    return 0


@cli.guarded
def _about(words: Sequence[str] | None) -> int:
    """List the commands, print the version, or raise `UsageError`."""
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
