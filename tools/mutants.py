"""Change the code a little in one place at a time, and see whether a test fails.

Cosmic Ray makes the changes (mutants) by the rules of tools/mutants.toml; a sample of
them is tried. It changes files, so it works in `.mutants`, a clone of the last commit.
Its results stay there: after Ctrl-C the next call with the same flags tries the rest.
`make clean` removes them.
"""

import collections
import dataclasses
import os
import random
import subprocess
import sys
import tomllib
from pathlib import Path

import tyro
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

ROOT = Path(__file__).resolve().parents[1]
CLONE = ROOT / ".mutants"
CONFIG = "tools/mutants.toml"


def run(*command: str) -> None:
    """Run a command in the clone, with its sources and the programs of this Python."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = os.environ | {"PATH": path, "PYTHONPATH": str(CLONE)}
    subprocess.run(command, cwd=CLONE, env=env, check=True)


def place(item: WorkItem) -> tuple[str, str, int]:
    """Return what names a mutant in all clones of a commit."""
    (mutation,) = item.mutations
    return str(mutation.module_path), mutation.operator_name, mutation.occurrence


def find_mutants(path: Path, num: int, seed: int) -> None:
    """Draw the mutants of a session; the tests of the clone itself must pass."""
    config = tomllib.loads((CLONE / CONFIG).read_text("utf-8"))
    folders = config["cosmic-ray"]["module-path"]
    tests = [f"tests/{Path(folder).name}" for folder in folders]
    run("python", "-m", "pytest", "-q", "-p", "no:xdist", "-m", "not slow", *tests)
    new = path.with_suffix(".new")
    run("cosmic-ray", "init", CONFIG, str(new))
    run("cr-filter-operators", str(new), CONFIG)
    with use_db(new, WorkDB.Mode.open) as session:
        found = sorted(session.pending_work_items, key=place)
        drawn = random.Random(seed).sample(found, k=min(num, len(found)))
        left_out = {item.job_id for item in found} - {item.job_id for item in drawn}
        skipped = WorkResult(worker_outcome=WorkerOutcome.SKIPPED)
        session.set_multiple_results(left_out, skipped)
    new.rename(path)


def report(path: Path) -> None:
    """Print the mutants that no test noticed, and the numbers of each folder."""
    counts = collections.defaultdict(collections.Counter)
    with use_db(path, WorkDB.Mode.open) as session:
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
    """Try a sample of the mutants, or what is left of one, and print a report."""

    num: int = 200
    """Number of mutants in the sample."""
    seed: int = 2026
    """Seed of the sample."""


def main(args: Args) -> None:
    """Try a sample of the mutants, or what is left of one, and print a report."""
    if not CLONE.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, CLONE], check=True)
    run("git", "checkout", "--quiet", ".")  # an earlier call may have been killed
    session = CLONE / f".git/mutants-{args.num}-{args.seed}.sqlite"
    if not session.exists():
        find_mutants(session, num=args.num, seed=args.seed)
    try:
        run("cosmic-ray", "exec", CONFIG, str(session))
    finally:
        report(session)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
