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
import sys
import tempfile
import time
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, cast

# Most of a test's time is the import of these. None of them starts a thread, so each
# mutant is tested in a fork of this process. PGX would start JAX's threads.
import flax.nnx  # noqa: F401
import hypothesis  # noqa: F401
import jax  # noqa: F401
import jaxtyping  # noqa: F401
import optax  # noqa: F401
import pytest

from mutants import tables
from mutants.mutant import ROOT, Mutant

COPIED = ("jax_ttt", "tests", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")
FLAGS = (
    *("-x", "-q", "-m", "not slow", "-p", "no:cacheprovider"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of the imports above
)
VERDICTS = {0: "SURVIVES", 1: "killed", 2: "killed", None: "killed"}
"""By pytest's exit code. 1: a test failed; 2: a test file could not be read; None: the
time limit. With others, the tests did not run."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) tests/(?:\w+/)*(\w+\.py\S*)", re.MULTILINE)


class Job(NamedTuple):
    """Tests to run, with a mutant or with the unchanged source."""

    tests: tuple[str, ...]
    mutant: Mutant | None = None
    limit: float = 1800.0  # seconds


class Ended(NamedTuple):
    """The tests of a job, ended."""

    job: Job
    code: int | None  # None: the time limit was exceeded
    seconds: float
    output: str


def run_jobs(jobs: Iterable[Job], copies: list[Path]) -> Iterator[Ended]:
    """Run jobs, one at a time in each copy of the repository."""
    waiting, running = collections.deque(jobs), {}
    try:
        while waiting or running:
            for copy in copies:
                if waiting and copy not in running:
                    job = waiting.popleft()
                    running[copy] = job, _start(job, copy), time.monotonic()
            time.sleep(0.05)
            for copy, (job, process, begun) in list(running.items()):
                ended, status = os.waitpid(process, os.WNOHANG)
                seconds = time.monotonic() - begun
                if ended or seconds > job.limit:
                    del running[copy]
                    _end(job, process, copy)
                    code = os.waitstatus_to_exitcode(status) if ended else None
                    yield Ended(job, code, seconds, _output(copy).read_text("utf-8"))
    finally:
        for copy, (job, process, _) in running.items():
            _end(job, process, copy)


def _start(job: Job, copy: Path) -> int:
    """Apply the job's mutant to a copy, and start the tests; return their process."""
    if job.mutant is not None:
        path = copy / job.mutant.file
        _write(path, job.mutant.applied(path.read_text("utf-8")))
    process = os.fork()
    if not process:
        try:
            os._exit(_test(job.tests, copy))
        finally:
            os._exit(70)
    with contextlib.suppress(OSError):  # the fork does it too, perhaps before
        os.setpgid(process, process)
    return process


def _end(job: Job, process: int, copy: Path) -> None:
    """End a job's processes, and take its mutant out of the copy."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)
    if job.mutant is not None:
        _write(copy / job.mutant.file, (ROOT / job.mutant.file).read_text("utf-8"))


def _test(tests: tuple[str, ...], copy: Path) -> int:
    """Run tests in this process, a fork; return pytest's exit code."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with _output(copy).open("wb") as file, open(os.devnull, "rb") as nothing:
        for target, source in enumerate((nothing, file, file)):
            os.dup2(source.fileno(), target)
    os.chdir(copy)
    for name in [name for name in sys.modules if name.startswith("mutants")]:
        del sys.modules[name]
    # The libraries may be in the checkout too, in its environment.
    others = (p for p in sys.path if str(ROOT) not in p or "site-packages" in p)
    sys.path[:] = [str(copy), *others]
    # For the processes that tests start.
    os.environ |= {"PYTHONPATH": str(copy), "PYTHONPYCACHEPREFIX": sys.pycache_prefix}

    @pytest.hookimpl(trylast=True)
    def as_named(items: list[pytest.Item]) -> None:
        place = {copy / "tests" / name: n for n, name in enumerate(tests)}
        items.sort(key=lambda item: place.get(item.path, 0))

    plugin = types.SimpleNamespace(pytest_collection_modifyitems=as_named)
    return pytest.main([*FLAGS, *(f"tests/{name}" for name in tests)], [plugin])


def _output(copy: Path) -> Path:
    return copy.with_suffix(".output")


def _write(path: Path, text: str) -> None:
    """Write a source; compiled ones are known by their size and time in seconds."""
    latest = path.stat().st_mtime
    path.write_text(text, "utf-8")
    os.utime(path, (latest + 2, latest + 2))


def _copied(folder: Path) -> Path:
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        folder.mkdir(exist_ok=True)
        copy(ROOT / name, folder / name)
    return folder


def run_mutants(chosen: list[Mutant], copies: list[Path]) -> Iterator[tuple[str, str]]:
    """Run all tests unchanged, then with each mutant; yield its folder and verdict."""
    limits = {}
    groups = dict.fromkeys(mutant.tests for mutant in chosen)
    for job, code, seconds, output in run_jobs(map(Job, groups), copies):
        if code != 0:
            raise SystemExit(f"{' '.join(job.tests)} fails unchanged:\n{output}")
        print(f"passes   {seconds:5.0f} s  {' '.join(job.tests)}", flush=True)
        limits[job.tests] = max(120, 10 * seconds)
    jobs = (Job(mutant.tests, mutant, limits[mutant.tests]) for mutant in chosen)
    for (_, made, _), code, seconds, output in run_jobs(jobs, copies):
        mutant = cast(Mutant, made)
        verdict = VERDICTS.get(code, "INVALID")
        by = "time limit" if code is None else "".join(_FAILED.findall(output)[:1])
        about = f"{mutant.file}: {mutant.fault} ({by[:80]})"
        print(f"{verdict:8} {seconds:5.0f} s  {about}", flush=True)
        if verdict == "INVALID":
            print(output[-3000:], flush=True)
        yield mutant.folder, verdict


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
    os.environ.setdefault("TEST_PROGRAMS", str(ROOT / ".test_programs"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    begun, verdicts = time.monotonic(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        sys.dont_write_bytecode, sys.pycache_prefix = False, f"{folder}/compiled"
        copies = [_copied(Path(folder) / str(n)) for n in range(flags.workers)]
        for name, verdict in run_mutants(chosen, copies):
            verdicts[name].append(verdict)
    for name, found in sorted(verdicts.items()):
        print(f"{name}: killed {found.count('killed')} of {len(found)}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes, cpu = (time.monotonic() - begun) / 60, used.ru_utime + used.ru_stime
    print(f"{minutes:.1f} minutes, {cpu / 60:.1f} of CPU time")
    every = [one for found in verdicts.values() for one in found]
    print(f"killed {every.count('killed')} of {len(every)}")
    return int(set(every) != {"killed"})


if __name__ == "__main__":
    sys.exit(main())
