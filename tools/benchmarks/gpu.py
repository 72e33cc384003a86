"""Whole commands on an accelerator, each in a process with a time limit.

All limits together are less than four minutes. The figures of a command come from its
files, and from when it wrote them: so one that does not finish has figures too.
"""

import compileall
import dataclasses
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import jax_ttt
from jax_ttt.files import sweep_file
from jax_ttt.files.metrics_rows import Evaluated, read_row
from jax_ttt.runtime.standard_streams import print_stderr
from tools.benchmarks import processes
from tools.benchmarks.progress import Steps, say
from tools.benchmarks.timing import Figures

_SMALL = "--num-envs 8 --num-updates 4"
_SMALL_NETWORK = f"{_SMALL} --hidden-size 8"
QUICK_LIMIT = 120
"""Seconds of each command with `--quick`, which may run on a slow CPU."""
_PROGRESS = re.compile(r"; [1-9][\d,]* agent-updates/s\n")
"""A line of a sweep in which updates were done."""
_ERROR_LENGTH = 2000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """A command that is measured."""

    module: str
    """The module that `python -m` runs."""
    words: str = ""
    """Its words, whatever the size."""
    full: str = ""
    """More words, for the size that is measured."""
    quick: str
    """The words in their place with `--quick`."""
    limit: int
    """Seconds after which it is killed."""
    programs: str = ""
    """The job whose compiled programs it finds; by default it compiles all."""


JOBS = {
    "train_cold": Job(
        module="jax_ttt.train", words="--seed 1", quick=_SMALL_NETWORK, limit=35
    ),
    "train_warm": Job(
        module="jax_ttt.train",
        words="--seed 1",
        quick=_SMALL_NETWORK,
        limit=15,
        programs="train_cold",
    ),
    "sweep_default": Job(
        module="jax_ttt.sweep",
        full="--num-seeds 1024",
        quick=f"--num-seeds 2 {_SMALL_NETWORK}",
        limit=40,
    ),
    "sweep_table": Job(
        module="jax_ttt.sweep",
        words="--preset table",
        full="--num-seeds 4096",
        quick=f"--num-seeds 2 {_SMALL}",
        limit=40,
    ),
    "connect_4x4": Job(
        module="jax_ttt.train",
        words="--preset connect-4x4 --seed 1",
        quick=f"{_SMALL_NETWORK} --eval-every 2 --max-positions 100",
        limit=40,
    ),
    "connect_7x6_large": Job(
        module="jax_ttt.train",
        words="--preset connect-7x6-large --no-prove",
        full="--num-updates 4000",
        quick=f"{_SMALL_NETWORK} --filters 4",
        limit=55,
    ),
}
"""The commands by their names in the results."""


def measure_gpu(quick: bool) -> Figures:
    """Run each command once; print and return its figures."""
    # As pip does when it installs a package; a checkout may have no byte code.
    compileall.compile_dir(Path(jax_ttt.__file__).parent, quiet=2)
    machine = setup()
    for name, value in machine.items():
        say(f"{name}: {value}")
    rows: Figures = {}
    with tempfile.TemporaryDirectory() as root, Steps(len(JOBS), "command") as bar:
        for name, job in JOBS.items():
            folder = Path(root) / name
            folder.mkdir()
            cache = Path(root) / (job.programs or name) / "programs"
            rows[name] = bar.step(name, run_job, job, folder, cache, quick)
            say(f"{name:<20}{figures_text(rows[name])}")
            if "error" in rows[name]:
                print_stderr(rows[name]["error"])
    return machine | {"commands": rows}


def setup() -> Figures:
    """Return the version of the driver and the commit; None if they are unknown."""
    query = "--query-gpu=driver_version"
    driver = _printed("nvidia-smi", query, "--format=csv,noheader")
    return {
        "driver": driver and driver.splitlines()[0],  # a line for each card
        "commit": _printed("git", "describe", "--always", "--dirty", "--exclude=*"),
    }


def _printed(*command: str) -> str | None:
    """Return what a program prints; None if it is absent or fails."""
    try:
        done = subprocess.run(
            command,
            cwd=processes.ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def run_job(job: Job, folder: Path, cache: Path, quick: bool) -> Figures:
    """Run a command in an empty folder, and return its figures.

    `seconds` is None if it was killed at its limit, or failed.
    """
    words = f"{job.words} {job.quick if quick else job.full}".split()
    limit = QUICK_LIMIT if quick else job.limit
    events = {"first_progress": shows_progress, "first_rows": has_rows}
    watched = processes.watch_module(job.module, words, cache, folder, limit, events)
    row: Figures = {
        "command": " ".join(["python -m", job.module, *words]),
        "limit_seconds": limit,
        "seconds": watched.seconds if watched.code == 0 else None,
    }
    if watched.code:
        row["error"] = watched.output[-_ERROR_LENGTH:].strip()
    return row | train_figures(folder) | sweep_figures(folder, watched.moments)


def shows_progress(folder: Path, output: str) -> bool:
    """Return whether a whole line of the output has a number of agents or updates."""
    del folder
    return _PROGRESS.search(output) is not None


def has_rows(folder: Path, output: str) -> bool:
    """Return whether a sweep's file has an agent: a line after that of its settings."""
    del output
    return any(file.read_bytes().count(b"\n") > 1 for file in _sweep_files(folder))


def _sweep_files(folder: Path) -> list[Path]:
    """Return the files of sweeps that have begun."""
    return [path for path in folder.glob("runs/*.jsonl") if path.stat().st_size]


def train_figures(folder: Path) -> Figures:
    """Return the figures of the training in a folder, so far; empty if there is none.

    The rate is that of the training alone: without compilation and evaluation.
    """
    for path in folder.glob("runs/*/metrics.jsonl"):
        whole_lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
        if whole_lines:
            row = read_row(whole_lines[-1])
            rate = row.env_steps / row.seconds if row.seconds else None
            proven = row.grade.unbeatable if isinstance(row, Evaluated) else None
            return {
                "updates": row.update,
                "training_seconds": row.seconds,
                "moves_per_second": rate,
                "unbeatable": proven,
            }
    return {}


def sweep_figures(folder: Path, moments: Mapping[str, float]) -> Figures:
    """Return the figures of the sweep in a folder, so far; empty if there is none."""
    for path in _sweep_files(folder):
        file = sweep_file.open_sweep_file(path, writes=False)
        return {
            "first_progress_seconds": moments.get("first_progress"),
            "first_rows_seconds": moments.get("first_rows"),
            "num_agents": file.sweep.num_seeds,
            "finished": len(file.agents),
            "proven": sum(agent.is_proven for agent in file.agents.values()),
        }
    return {}


def figures_text(row: Figures) -> str:
    """Return the figures of a command as one line."""
    if row["seconds"] is not None:
        parts = [f"{row['seconds']:.2f} s"]
    elif "error" in row:
        parts = ["failed"]
    else:
        parts = [f"not finished after {row['limit_seconds']} s"]
    for name in ("first progress", "first rows"):
        if seconds := row.get(f"{name.replace(' ', '_')}_seconds"):
            parts.append(f"{name} after {seconds:.2f} s")
    if "num_agents" in row:
        parts.append(f"{row['finished']:,} of {row['num_agents']:,} agents")
        parts.append(f"{row['proven']:,} proven")
    if "updates" in row:
        seconds = row["training_seconds"]
        parts.append(f"{row['updates']:,} updates in {seconds:.2f} s of training")
    if rate := row.get("moves_per_second"):
        parts.append(f"{rate:,.0f} moves/s")
    if (unbeatable := row.get("unbeatable")) is not None:
        parts.append("unbeatable" if unbeatable else "can be beaten")
    return ", ".join(parts)
