"""How long the other commands take to show something, from the start of a process."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jax_ttt.benchmarks import processes
from jax_ttt.benchmarks.processes import Child
from jax_ttt.benchmarks.progress import Bar
from jax_ttt.benchmarks.timing import Figures, Timed, show
from jax_ttt.reports import session_text


class Command(NamedTuple):
    """A command, from the start of its process to what it is waited for."""

    end: str
    run: Callable[[Path, Path], Child]
    """Runs it with an agent's folder and the folder of its compiled programs."""


def evaluate(agent: Path, cache: Path) -> Child:
    """Run `evaluate` on the agent, to its end."""
    return processes.run_module("jax_ttt.evaluate", [str(agent)], cache)


def play(agent: Path, cache: Path) -> Child:
    """Run `play` against the agent, until it shows a board and asks for a move."""
    asks = session_text.HELP
    return processes.run_module("jax_ttt.play", [str(agent)], cache, until=asks)


def arena(agent: Path, cache: Path) -> Child:
    """Run `arena` without arguments, to its end."""
    del agent  # it plays those who need no file
    return processes.run_module("jax_ttt.arena", [], cache)


COMMANDS = {
    "evaluate": Command("report", evaluate),
    "play": Command("first board", play),
    "arena": Command("tables", arena),
}
"""The commands by their names."""


def run_round(
    bar: Bar, agent: Path, folder: Path, found: Mapping[str, list[Child]]
) -> None:
    """Run each command once, its first time twice, and add what it took to `found`.

    A command keeps its compiled programs in its own folder in `folder`, which it finds
    empty the first time.
    """
    for name, command in COMMANDS.items():
        for _ in range(1 if found[name] else 2):
            found[name].append(bar.step(name, command.run, agent, folder / name))


def show_commands(found: Mapping[str, Sequence[Child]]) -> Figures:
    """Print and return what each command took; its first run found an empty cache."""
    figures = {}
    for name, (first, *others) in found.items():
        for cache, children in (("cold", [first]), ("warm", others)):
            text = f"{name}, {cache} cache, start to {COMMANDS[name].end}"
            figures[f"{name}_{cache}"] = show_seconds(text, children)
    return figures


def show_seconds(text: str, children: Sequence[Child]) -> Figures:
    """Print and return the seconds that processes took."""
    timed = Timed(0.0, [c.wall for c in children], [c.cpu for c in children])
    return show(text, timed.wall, "s", 2, timed)
