"""The runs that `train` has saved below a folder, `runs/` unless named. No JAX."""

import dataclasses
from pathlib import Path

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.config.choices import SEATS_OF
from jax_ttt.config.errors import UsageError
from jax_ttt.results import reading
from jax_ttt.results.commands import RunSummary
from jax_ttt.results.rows import Evaluated, read_row

FOLDER = Path("runs")
"""Where `train` makes its folders."""
_AGENT = "agent.safetensors"
_TAIL = 2**16
"""Bytes at the end of the metrics in which the last evaluation is looked for."""


def newest_run(folder: Path = FOLDER) -> Path:
    """Return the run whose agent was saved last.

    Raises:
        UsageError: no agent is saved there.
    """
    saved = [run for run in saved_in(folder) if (run / _AGENT).exists()]
    if not saved:
        raise UsageError(f"no agent below {folder}/: train one, or name another folder")
    return saved[-1]


def saved_runs(folder: Path = FOLDER) -> list[RunSummary]:
    """Return a summary of each run, the newest last; other folders are ignored."""
    found = [_summary(run) for run in saved_in(folder)]
    return [summary for summary in found if summary is not None]


def saved_in(folder: Path) -> list[Path]:
    """Return the folders that a run has written to, the newest last."""
    times: dict[Path, float] = {}
    for run in folder.glob("*/"):
        for name in (_AGENT, "config.json"):
            try:
                times.setdefault(run, (run / name).stat().st_mtime)
            except OSError:  # not there, or not ours to read
                continue
    return sorted(times, key=lambda run: (times[run], run.name))


def _summary(run: Path) -> RunSummary | None:
    try:
        settings = reading.json_file(run / "config.json")
        last = _last_evaluation(run / "metrics.jsonl")
    except (OSError, ValueError):
        return None
    match settings:
        case {
            "config": {"env_id": str(env_id), **config},
            "preset": str(preset),
            "seed": int(seed),
        }:
            summary = RunSummary(
                run_dir=str(run),
                saved=(run / _AGENT).exists(),
                env_id=env_id,
                preset=preset,
                seed=seed,
            )
        case _:
            return None
    if last is None:
        return summary
    # Runs of earlier versions don't name the seats.
    rates = last.mean(_seats(config.get("seat", "both")))
    return dataclasses.replace(
        summary,
        update=last.update,
        seconds=last.seconds,
        proven=last.is_proven if last.has_verdict else None,
        win_rate=None if rates is None else rates.win_rate,
    )


def _seats(setting: object) -> tuple[Seat, ...]:
    """Return the seats of the setting `seat`; both where it is none."""
    for name, seats in SEATS_OF.items():
        if name == setting:
            return seats
    return SEATS


def _last_evaluation(metrics: Path) -> Evaluated | None:
    """Return the last row with grades near the end of a run's metrics."""
    with reading.open_bounded(metrics, reading.MOST_METRICS) as file:
        size = file.seek(0, 2)
        file.seek(max(size - _TAIL, 0))
        lines = file.read().split(b"\n")
    # The first line may lack its beginning, the last one its end.
    for line in reversed(lines[1 if size > _TAIL else 0 : -1]):
        row = read_row(reading.strict_json(line))
        if isinstance(row, Evaluated):
            return row
    return None
