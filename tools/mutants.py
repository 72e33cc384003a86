"""Change the code a little in one place at a time, and see whether a test fails.

Cosmic Ray makes the changes (mutants) by the rules of tools/mutants.toml, in random
order. It changes files, so it works in `.mutants`, a clone of the last commit. Its
results stay there: the next call tries the other mutants. `make clean` removes them.
"""

import collections
import contextlib
import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import tyro
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome

ROOT = Path(__file__).resolve().parents[1]
CLONE = ROOT / ".mutants"
SESSION = CLONE / ".git/mutants.sqlite"
CONFIG = "tools/mutants.toml"


def run(*command: str, minutes: float | None = None) -> None:
    """Run a command in the clone, with its sources and the programs of this Python."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = os.environ | {"PATH": path, "PYTHONPATH": str(CLONE)}
    seconds = None if minutes is None else 60 * minutes
    subprocess.run(command, cwd=CLONE, env=env, check=True, timeout=seconds)


def find_mutants() -> None:
    """Clone the last commit and list its mutants; its own tests must pass."""
    subprocess.run(["git", "clone", "--quiet", ROOT, CLONE], check=True)
    folders = [f"tests/{name}" for name in ("dqn", "solver", "games", "grading")]
    run("python", "-m", "pytest", "-q", "-p", "no:xdist", "-m", "not slow", *folders)
    new = SESSION.with_suffix(".new")
    run("cosmic-ray", "init", CONFIG, str(new))
    run("cr-filter-operators", str(new), CONFIG)
    new.rename(SESSION)


def report() -> None:
    """Print the mutants that no test noticed, and the numbers of each folder."""
    counts = collections.defaultdict(collections.Counter)
    with use_db(SESSION, WorkDB.Mode.open) as session:
        for item, result in session.completed_work_items:
            if result.worker_outcome == WorkerOutcome.SKIPPED:
                continue
            (mutation,) = item.mutations
            survived = result.test_outcome == TestOutcome.SURVIVED
            if survived:
                print(result.diff, end="\n\n")
            late = result.output == "timeout"
            end = "survived" if survived else "timeout" if late else "killed"
            counts[mutation.module_path.parent.name][end] += 1
        for item in session.pending_work_items:
            counts[item.mutations[0].module_path.parent.name]["not tried"] += 1
    for folder, numbers in sorted(counts.items()):
        print(f"{folder}:", ", ".join(f"{n} {end}" for end, n in numbers.items()))


@dataclasses.dataclass(frozen=True)
class Args:
    """Try the mutants that were not tried yet, and print a report."""

    minutes: float | None = None
    """Stop after so many minutes; by default, try all."""


def main(args: Args) -> None:
    """Try the mutants that were not tried yet, and print a report."""
    if not SESSION.exists():
        find_mutants()
    run("git", "checkout", "--quiet", ".")  # an earlier call may have been killed
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            run("cosmic-ray", "exec", CONFIG, str(SESSION), minutes=args.minutes)
    finally:
        report()


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
