"""Timing of the benchmark's runs, and its printed figures, without JAX."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tools.benchmarks.progress import Steps, say

Figures = dict[str, Any]
"""The results of a part of the benchmark, as JSON values."""


class Timed(NamedTuple):
    """The seconds of a run: of the first call, which compiles, and of each round."""

    first: float
    wall: list[float]
    cpu: list[float]  # of all threads of the process


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the minimum, median and maximum."""
    return {
        "min": min(values),
        "median": statistics.median(values),
        "max": max(values),
    }


def show(
    text: str,
    values: Sequence[float],
    unit: str,
    digits: int = 2,
    timed: Timed | None = None,
) -> Figures:
    """Print and return a figure with its spread.

    With `timed`, the median CPU and wall seconds of a round are added.
    """
    row: Figures = {"unit": unit, **spread(values)}
    low, mid, high = (f"{row[name]:,.{digits}f}" for name in ("min", "median", "max"))
    note = ""
    if timed is not None:
        row["wall_seconds"] = statistics.median(timed.wall)
        row["cpu_seconds"] = statistics.median(timed.cpu)
        note = f"  {row['cpu_seconds']:.3g} CPU s in {row['wall_seconds']:.3g} s"
    spread_text = f"({low} to {high})"
    unit_text = unit if unit == "%" else f" {unit}"
    say(f"{text:<44}{mid:>10}{unit_text:<13}{spread_text:<23}{note}".rstrip())
    return row


def show_rate(text: str, count: int | float, timed: Timed, unit: str) -> Figures:
    """Print and return a run's rate per second; a round has `count` things."""
    return show(text, [count / seconds for seconds in timed.wall], unit, 0, timed)


def show_ms(text: str, timed: Timed, count: int = 1, unit: str = "ms") -> Figures:
    """Print and return the milliseconds of a run, or of each of its `count` parts."""
    return show(text, [1000 * s / count for s in timed.wall], unit, 3, timed)


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Return the ratios of pairs of one round, whose disturbances affect both."""
    return [a / b for a, b in zip(above, below, strict=True)]


def in_turn(runs: Sequence[Callable[[], object]], rounds: int) -> list[Timed]:
    """Time each run: all once, which compiles them, then all in each round.

    A run must wait for its own results (`jax.block_until_ready`).
    """
    with Steps(len(runs) * (1 + rounds), "run") as bar:
        timings = [
            Timed(bar.step("compiling", seconds, run)[0], [], []) for run in runs
        ]
        for turn in range(rounds):
            for run, timed in zip(runs, timings, strict=True):
                wall, cpu = bar.step(f"round {turn + 1}", seconds, run)
                timed.wall.append(wall)
                timed.cpu.append(cpu)
    return timings


def seconds(run: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and the CPU seconds of a run."""
    begin, begin_cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - begin, time.process_time() - begin_cpu
