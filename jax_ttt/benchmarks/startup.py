"""How long a whole command takes, from the start of its process to what it is run for.

Everything runs in processes of its own, so nothing is warm that would not be. What a
run's time went into is read from the `times.json` that it leaves.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jax_ttt.benchmarks import processes
from jax_ttt.benchmarks.processes import Child
from jax_ttt.benchmarks.progress import Steps, say
from jax_ttt.benchmarks.timing import Figures, Timed, ratios, show
from jax_ttt.reports import session_text
from jax_ttt.results.rows import Evaluated, read_row

PARTS = ("imports", "compile", "train", "evaluate", "write", "other")
"""What a command's time goes into; together they are all of it."""
BASELINE = "jax_ttt.benchmarks.plain_loop"
"""The article's program."""
BASELINES = 2
"""Runs of the article's program at most: one takes as long as ten of ours."""


class Command(NamedTuple):
    """A command but `train`: what it is run with, and for."""

    of_agent: bool  # it is given an agent, else nothing
    end: str  # what it is run for
    until: str = ""  # what it has then printed, if it goes on


COMMANDS = {
    "evaluate": Command(True, "report"),
    "play": Command(True, "first board", session_text.HELP),
    "arena": Command(False, "tables"),
}
"""The other commands that people wait for, by their names."""


class Run(NamedTuple):
    """What a process took that trained, and what it left."""

    child: Child
    parts: dict[str, float]  # seconds, which add up to the process's
    peak_mib: float | None  # None where the system does not know it
    proven: bool  # it saved an agent that its last evaluation proves


def measure_startup(rounds: int, with_baseline: bool) -> Figures:
    """Time the article's program and our commands, with empty caches and with full.

    A round has one process of each; a command but `train` meets an empty cache in the
    first round alone.

    Raises:
        RuntimeError: a run failed.
    """
    article: list[Child] = []
    ours: dict[str, list[Run]] = {"cold": [], "warm": []}
    others: dict[str, list[Child]] = {name: [] for name in COMMANDS}
    baselines = min(rounds, BASELINES) if with_baseline else 0
    total = baselines + (len(ours) + len(others)) * rounds + len(others)
    with tempfile.TemporaryDirectory() as name, Steps(total, "process") as bar:
        folder = Path(name)
        for turn in range(rounds):
            here = folder / str(turn)
            here.mkdir()
            if turn < baselines:
                args = BASELINE, [str(here / "weights.npz")], None
                article.append(bar.step("article", processes.run_module, *args))
            for cache, runs in ours.items():
                places = here / cache, here / "cache"
                runs.append(bar.step(f"train, {cache}", run_train_command, *places))
            run_others(bar, here / "warm", folder, others)
    figures = show_whole(article, ours) | show_others(others)
    for cache, found in ours.items():
        figures[cache] = show_parts(cache, found)
        proofs = [one.proven for one in found]
        figures[f"proven_{cache}"] = show_proven(cache, proofs)
    seconds = [import_seconds() for _ in range(rounds)]
    figures["import"] = show("import jax_ttt, in Python", seconds, "s", 4)
    return figures


def run_others(
    bar: Steps, agent: Path, folder: Path, found: Mapping[str, list[Child]]
) -> None:
    """Run each other command once, its first time twice, and note what it took.

    Each keeps its compiled programs in its own folder in `folder`, which it finds empty
    the first time.
    """
    for name, command in COMMANDS.items():
        args = [str(agent)] if command.of_agent else []
        process = f"jax_ttt.{name}", args, folder / name, command.until
        for _ in range(1 if found[name] else 2):
            found[name].append(bar.step(name, processes.run_module, *process))


def import_seconds() -> float:
    """Return the seconds that `import jax_ttt` takes in a fresh process."""
    begin = "from time import perf_counter as now; begin = now(); "
    code = f"{begin} import jax_ttt; print(now() - begin)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def show_whole(article: Sequence[Child], ours: Mapping[str, list[Run]]) -> Figures:
    """Print and return what whole processes took, and ours as a share of theirs."""
    figures = {}
    if article:
        text = f"the article's program, start to saved, {len(article)} x"
        figures["article"] = show_seconds(text, article)
    for cache, found in ours.items():
        end = "proven and saved" if all(one.proven for one in found) else "saved"
        children = [one.child for one in found]
        text = f"train, {cache} cache, start to {end}"
        figures[f"train_{cache}"] = show_seconds(text, children)
        if article:
            pairs = children[: len(article)]
            share = ratios([c.wall for c in pairs], [c.wall for c in article])
            text = f"train, {cache} cache, share of the article's"
            figures[f"share_{cache}"] = show(text, share, "x", 3)
    return figures


def show_others(found: Mapping[str, Sequence[Child]]) -> Figures:
    """Print and return what the other commands took; the first run of each is cold."""
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


def show_proven(cache: str, proofs: Sequence[bool]) -> Figures:
    """Return how many runs ended with a proven agent; print it unless all did."""
    if not all(proofs):
        say(f"train, {cache} cache, not proven: {proofs.count(False)} of {len(proofs)}")
    return {"proven": sum(proofs), "num_runs": len(proofs)}


def show_parts(cache: str, found: Sequence[Run]) -> Figures:
    """Print and return where the time went, and the greatest memory."""
    figures = {
        part: show(f"train, {cache} cache: {part}", [f.parts[part] for f in found], "s")
        for part in PARTS
    }
    memory = [f.peak_mib for f in found if f.peak_mib is not None]
    if not memory:
        return figures
    text = f"train, {cache} cache: greatest memory"
    return figures | {"peak_memory": show(text, memory, "MiB", 0)}


def run_train_command(run_dir: Path, cache: Path) -> Run:
    """Run the command `train`, with the compilation cache at `cache`."""
    args = ["--quiet", "--run-dir", str(run_dir)]
    child = processes.run_module("jax_ttt.train", args, cache)
    found = json.loads((run_dir / "times.json").read_text("utf-8"))
    parts = found["seconds"]
    parts["other"] = child.wall - sum(parts.values())
    return Run(child, parts, found["peak_memory_mib"], proven(run_dir))


def proven(run_dir: Path) -> bool:
    """Return whether a run saved an agent that its last evaluation proves."""
    *_, line = (run_dir / "metrics.jsonl").read_text("utf-8").splitlines()
    last = read_row(json.loads(line))
    saved = (run_dir / "agent.safetensors").exists()
    return saved and isinstance(last, Evaluated) and last.is_proven
