"""Apply each mutant to a copy of the source, and run the tests that must notice it.

Libraries for mutation testing (mutmut, cosmic-ray, mutatest) change operators and
constants everywhere, which takes days with JAX, and can't state a fault such as "the
reward of the other player". Here each mutant is a fault with a name.

A mutant is killed if a test fails, or if the tests exceed ten times their usual time
(and two minutes).
"""

import argparse
import collections
import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mutants import tables
from mutants.mutant import ROOT, Mutant

COPIED = ("jax_ttt", "tests", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")
PYTEST = ("pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider")
_FAILED = re.compile(r"^(?:FAILED|ERROR) tests/\S*?([^/\s]+::\S+)", re.MULTILINE)
_TIMES = iter(range(10**9))


class Ended(NamedTuple):
    """The tests of a job, ended."""

    code: int | None  # None: the time limit was exceeded
    seconds: float
    output: str


class Job(NamedTuple):
    """Tests to run, with a mutant or with the unchanged source."""

    tests: tuple[str, ...]
    mutant: Mutant | None
    limit: float  # seconds


class Running(NamedTuple):
    """A job whose tests run in a copy of the repository."""

    job: Job
    copy: Path
    process: subprocess.Popen
    begun: float
    output: Path


def run_jobs(jobs: Iterable[Job], copies: list[Path]) -> Iterator[tuple[Job, Ended]]:
    """Run jobs, one at a time in each copy, and yield them as they end."""
    waiting, free, running = collections.deque(jobs), list(copies), []
    try:
        while waiting or running:
            while waiting and free:
                running.append(_start(waiting.popleft(), free.pop()))
            time.sleep(0.05)
            for one in list(running):
                seconds = time.monotonic() - one.begun
                code = one.process.poll()
                if code is None and seconds < one.job.limit:
                    continue
                _end(one)
                running.remove(one)
                free.append(one.copy)
                yield one.job, Ended(code, seconds, one.output.read_text("utf-8"))
    finally:
        for one in running:
            _end(one)


def _start(job: Job, copy: Path) -> Running:
    if job.mutant is not None:
        path = copy / job.mutant.file
        _write(path, job.mutant.applied(path.read_text("utf-8")))
    output = copy.with_suffix(".output")
    env = os.environ | {
        "PYTHONPATH": str(copy),
        "PYTHONPYCACHEPREFIX": str(copy.with_name("compiled")),
        "TEST_PROGRAMS": os.environ.get("TEST_PROGRAMS", str(ROOT / ".test_programs")),
    }
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # it doubles the seconds of most mutants
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", *PYTEST, *(f"tests/{name}" for name in job.tests)],
            cwd=copy,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    return Running(job, copy, process, time.monotonic(), output)


def _end(one: Running) -> None:
    """End the processes of a job, and take the mutant out of the copy."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(one.process.pid, signal.SIGKILL)
    one.process.wait()
    if one.job.mutant is not None:
        file = one.job.mutant.file
        _write(one.copy / file, (ROOT / file).read_text("utf-8"))


def _write(path: Path, text: str) -> None:
    """Write a source; Python keeps compiled ones by their size and time in seconds."""
    path.write_text(text, "utf-8")
    moment = 10**9 + next(_TIMES)
    os.utime(path, (moment, moment))


def _copied(folder: Path) -> Path:
    folder.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def usual_seconds(
    chosen: list[Mutant], copies: list[Path], say: Callable[[str], None]
) -> dict[tuple[str, ...], float]:
    """Run all tests on the unchanged source; return their seconds by group."""
    groups = dict.fromkeys(mutant.tests for mutant in chosen)
    found = {}
    for job, ended in run_jobs((Job(t, None, 1800) for t in groups), copies):
        if ended.code != 0:
            raise SystemExit(f"{' '.join(job.tests)} fails unchanged:\n{ended.output}")
        found[job.tests] = ended.seconds
        say(f"passes     {ended.seconds:4.0f} s  {' '.join(job.tests)}")
    return found


def verdict(ended: Ended) -> str:
    """Return whether a mutant is killed; invalid if pytest could not run the tests."""
    if ended.code is None:
        return "killed"
    return {0: "SURVIVES", 1: "killed"}.get(ended.code, "INVALID")


def main() -> int:
    """Run the mutants that the arguments select; return 1 if one is not killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of a mutant's file or fault")
    parser.add_argument("--workers", type=int, default=2)
    flags = parser.parse_args()
    chosen = [
        mutant
        for mutant in tables.all_mutants()
        if all(word in f"{mutant.file} {mutant.fault}" for word in flags.words)
    ]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the tests too
    begun, verdicts = time.monotonic(), collections.defaultdict(list)
    say = lambda text: print(text, flush=True)  # noqa: E731
    with tempfile.TemporaryDirectory() as folder:
        copies = [_copied(Path(folder) / str(n)) for n in range(flags.workers)]
        usual = usual_seconds(chosen, copies, say)
        jobs = [Job(m.tests, m, max(120, 10 * usual[m.tests])) for m in chosen]
        for job, ended in run_jobs(jobs, copies):
            assert job.mutant is not None
            found = verdict(ended)
            verdicts[job.mutant.folder].append(found)
            by = _FAILED.findall(ended.output) or [
                "time limit" if not ended.code else ""
            ]
            about = f"{job.mutant.file}: {job.mutant.fault}"
            say(f"{found:9} {ended.seconds:5.0f} s  {about} ({by[0][:80]})")
            if found == "INVALID":
                say(ended.output[-3000:])
    for name, found in sorted(verdicts.items()):
        say(f"{name}: killed {found.count('killed')} of {len(found)}")
    every = [one for found in verdicts.values() for one in found]
    minutes = (time.monotonic() - begun) / 60
    killed = every.count("killed")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (used.ru_utime + used.ru_stime) / 60
    say(f"took {minutes:.1f} minutes, {cpu:.1f} of CPU time")
    say(f"killed {killed} of {len(every)}")
    return int(killed < len(every))


if __name__ == "__main__":
    sys.exit(main())
