"""`train` in a process that says where its time went, for the benchmark.

python -m jax_ttt.benchmarks.timed_run START RUN_DIR

START is the `time.time()` at which the process was started. The last line of its
output is a JSON object.
"""

import builtins
import contextlib
import functools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ORDER = ("compile", "imports", "train", "evaluate", "write")
"""Where two of them overlap, the time is the earlier one's."""

Span = tuple[float, float]
"""Begin and end, by `time.time()`."""


def main(argv: Sequence[str]) -> int:
    """Train, print the seconds of each part, and return the exit code of `train`."""
    start, run_dir = float(argv[0]), argv[1]
    spans: dict[str, list[Span]] = {name: [] for name in ORDER}
    spans["imports"].append((start, time.time()))  # the start of Python itself
    builtins.__import__ = timed(builtins.__import__, spans["imports"])
    watch(spans)

    from jax_ttt import train

    code = train.main(["--quiet", "--run-dir", run_dir])
    print(json.dumps({"parts": attribute(spans), "peak_mib": peak_mib()}))
    return code


def watch(spans: dict[str, list[Span]]) -> None:
    """Have JAX and the library note what they do, from now on."""
    import jax.monitoring

    from jax_ttt.training import loop, run_folder

    def compiled(event: str, duration_secs: float, **kwargs: str | int) -> None:
        del kwargs
        if event.startswith("/jax/core/compile/"):
            spans["compile"].append((time.time() - duration_secs, time.time()))

    jax.monitoring.register_event_duration_secs_listener(compiled)
    for name in ("write_config", "write_row", "save_agent", "close"):
        method = getattr(run_folder.RunFolder, name)
        setattr(run_folder.RunFolder, name, timed(method, spans["write"]))
    steps = loop.train
    loop.train = lambda *args, **kwargs: watched(steps(*args, **kwargs), spans)


def watched(steps: Iterator[Any], spans: dict[str, list[Span]]) -> Iterator[Any]:
    """Yield the steps of a training run, noting which of them train or evaluate."""
    begin = time.time()
    for progress in steps:
        name = "train" if progress.evaluation is None else "evaluate"
        spans[name].append((begin, time.time()))
        yield progress
        begin = time.time()


def timed(function: Callable, spans: list[Span]) -> Callable:
    """Return the function, noting when it runs."""

    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> object:
        begin = time.time()
        try:
            return function(*args, **kwargs)
        finally:
            spans.append((begin, time.time()))

    return wrapper


def attribute(spans: dict[str, list[Span]]) -> dict[str, float]:
    """Return the seconds of each part; no moment counts twice."""
    claimed: list[Span] = []
    seconds = {}
    for name in ORDER:
        before = covered(claimed)
        claimed = claimed + spans[name]
        seconds[name] = covered(claimed) - before
    return seconds


def covered(spans: Iterable[Span]) -> float:
    """Return how many seconds lie in at least one of the spans, which may nest."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def peak_mib() -> float:
    """Return the greatest memory that this process had, in MiB."""
    # Linux's ru_maxrss counts in what the parent had when it started this process.
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii")
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return int(fields["VmHWM"].split()[0]) / 1024

    import resource

    unit = 1 if sys.platform == "darwin" else 1024  # what ru_maxrss counts in
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
