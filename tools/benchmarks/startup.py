"""The time of a whole command, from the start of its process to its result.

Each command runs in its own process, so it starts as cold as for a user.
"""

import compileall
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jax_ttt
from jax_ttt.files.metrics_rows import Evaluated
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.text import commands as words
from tools.benchmarks import processes
from tools.benchmarks.processes import Child
from tools.benchmarks.progress import Steps, say
from tools.benchmarks.timing import Figures, Timed, ratios, show

BASELINE = "tools.benchmarks.plain_loop"
"""Antognini's program."""
BASELINES = 2
"""Most runs of Antognini's program; one takes as long as ten of ours."""


class Command(NamedTuple):
    """A command besides `train`, its argument and its result."""

    of_agent: bool  # whether its argument is an agent; else it has none
    end: str  # the result that is timed
    until: str = ""  # its last output before it waits for input, if it does


COMMANDS = {
    "evaluate": Command(True, "report"),
    "play": Command(True, "first board", words.PROMPT),
    "arena": Command(False, "tables"),
}
"""The other commands that people wait for, by their names."""


class Run(NamedTuple):
    """The times and the result of a training process."""

    child: Child
    training: float  # seconds, excluding compilation and evaluation
    proven: bool  # it saved an agent that its last evaluation proves


def measure_startup(rounds: int, with_baseline: bool) -> Figures:
    """Time Antognini's program and our commands, with empty and with filled caches.

    A round has one process of each. For commands besides `train`, only the first round
    has an empty cache.

    Raises:
        RuntimeError: a run failed.
    """
    article: list[Child] = []
    ours: dict[str, list[Run]] = {"cold": [], "warm": []}
    others: dict[str, list[Child]] = {name: [] for name in COMMANDS}
    baselines = min(rounds, BASELINES) if with_baseline else 0
    # As pip does when it installs a package; a checkout may have no byte code.
    compileall.compile_dir(Path(jax_ttt.__file__).parent, quiet=2)
    total = baselines + (len(ours) + len(others)) * rounds + len(others)
    with tempfile.TemporaryDirectory() as name, Steps(total, "process") as bar:
        folder = Path(name)
        for turn in range(rounds):
            here = folder / str(turn)
            here.mkdir()
            if turn < baselines:
                child = bar.step(
                    "article",
                    processes.run_module,
                    module=BASELINE,
                    args=[str(here / "weights.npz")],
                    cache=None,
                )
                article.append(child)
            for cache, runs in ours.items():
                run = bar.step(
                    f"train, {cache}",
                    run_train_command,
                    run_dir=here / cache,
                    cache=here / "cache",
                )
                runs.append(run)
            run_others(bar, here / "warm", folder, others)
    figures = show_whole(article, ours) | show_others(others)
    for cache, runs in ours.items():
        text, training = (
            f"train, {cache} cache: training",
            [run.training for run in runs],
        )
        figures[f"training_{cache}"] = show(text, training, "s")
        proofs = [one.proven for one in runs]
        figures[f"proven_{cache}"] = show_proven(cache, proofs)
    seconds = [import_seconds() for _ in range(rounds)]
    figures["import"] = show("import jax_ttt, in Python", seconds, "s", 4)
    return figures


def run_others(
    bar: Steps, agent: Path, folder: Path, children: Mapping[str, list[Child]]
) -> None:
    """Run each other command once, or twice in the first round, and add its times.

    Each command has its own cache in `folder`, which is empty the first time.
    """
    for name, command in COMMANDS.items():
        for _ in range(1 if children[name] else 2):
            child = bar.step(
                name,
                processes.run_module,
                module=f"jax_ttt.{name}",
                args=[str(agent)] if command.of_agent else [],
                cache=folder / name,
                until=command.until,
            )
            children[name].append(child)


def import_seconds() -> float:
    """Return the seconds that `import jax_ttt` takes in a fresh process."""
    begin = "from time import perf_counter as now; begin = now(); "
    code = f"{begin} import jax_ttt; print(now() - begin)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return float(process.stdout)


def show_whole(article: Sequence[Child], ours: Mapping[str, list[Run]]) -> Figures:
    """Print and return whole processes' times, ours also relative to Antognini's."""
    figures = {}
    if article:
        text = f"the article's program, start to saved, {len(article)} x"
        figures["article"] = show_seconds(text, article)
    for cache, runs in ours.items():
        end = "proven and saved" if all(one.proven for one in runs) else "saved"
        children = [one.child for one in runs]
        text = f"train, {cache} cache, start to {end}"
        figures[f"train_{cache}"] = show_seconds(text, children)
        if article:
            pairs = children[: len(article)]
            share = ratios([c.wall for c in pairs], [c.wall for c in article])
            text = f"train, {cache} cache, share of the article's"
            figures[f"share_{cache}"] = show(text, share, "x", 3)
    return figures


def show_others(runs: Mapping[str, Sequence[Child]]) -> Figures:
    """Print and return the other commands' times; the first run of each is cold."""
    figures = {}
    for name, (first, *others) in runs.items():
        for cache, children in (("cold", [first]), ("warm", others)):
            text = f"{name}, {cache} cache, start to {COMMANDS[name].end}"
            figures[f"{name}_{cache}"] = show_seconds(text, children)
    return figures


def show_seconds(text: str, children: Sequence[Child]) -> Figures:
    """Print and return the seconds of processes."""
    timed = Timed(0.0, [c.wall for c in children], [c.cpu for c in children])
    return show(text, timed.wall, "s", 2, timed)


def show_proven(cache: str, proofs: Sequence[bool]) -> Figures:
    """Return how many runs ended with a proven agent; print it unless all did."""
    if not all(proofs):
        say(f"train, {cache} cache, not proven: {proofs.count(False)} of {len(proofs)}")
    return {"proven": sum(proofs), "num_runs": len(proofs)}


def run_train_command(run_dir: Path, cache: Path) -> Run:
    """Run the command `train`, with the compilation cache at `cache`."""
    args = ["--quiet", "--run-dir", str(run_dir)]
    child = processes.run_module("jax_ttt.train", args, cache)
    run = RunFolder(run_dir)
    last = run.rows()[-1]
    proven = isinstance(last, Evaluated) and last.grade.unbeatable is True
    return Run(child, last.seconds, run.agent.exists() and proven)
