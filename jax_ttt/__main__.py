"""List the commands, or run one.

python -m jax_ttt
jax-ttt train --seed 1
"""

import difflib
import importlib
import sys

COMMANDS = {
    "train": "train an agent, prove whether it can be beaten, save it",
    "evaluate": "grade a saved agent or another player",
    "play": "play against a saved agent or another player",
    "web": "serve a page to play on and to watch agents learn",
    "runs": "list the saved runs",
    "plot": "draw a run: curves, a game, the values of a position",
    "arena": "let players play each other in both seats, and rank them",
    "sweep": "train many agents over seeds and settings, and count the proofs",
    "published": "train the published systems again, and compare the results",
    "bench": "measure speed, start-up and pass rate",
    "figures": "make the figures of the README and the docs",
}
"""The commands in their order of use, and what they do."""


def main() -> int:
    """Run the command that the first word names; without one, list all commands."""
    from jax_ttt.runtime import interrupts, streams

    interrupts.leave_on_import()
    try:
        code = _run()
        sys.stdout.flush()  # at exit, an error would be a traceback
    except BrokenPipeError:  # the reader of our output has ended
        streams.drop(sys.stdout)
        return 141
    return code


def _run() -> int:
    words = sys.argv[1:]
    name = words[0] if words else "--help"
    if name in ("-h", "--help"):
        print(command_list())
        return 0
    if name == "--version":
        from jax_ttt import __version__

        print(f"jax_ttt {__version__}")
        return 0
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, 1)
        meant = (
            f"did you mean {close[0]}?" if close else f"one of {', '.join(COMMANDS)}"
        )
        print(f"error: no command {name!r}: {meant}", file=sys.stderr)
        return 2
    command = importlib.import_module(f"jax_ttt.{name}")
    if hasattr(command, "__path__"):  # a command with a folder of its own
        command = importlib.import_module(f"jax_ttt.{name}.__main__")
    sys.argv = [f"{sys.argv[0]} {name}", *words[1:]]
    return command.main(None)


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
