"""Agents by when they were proven: a row for each, and the figures of many."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from jax_ttt.benchmarks.timing import Figures, Timed, show
from jax_ttt.config.choices import LEARNED
from jax_ttt.evaluation.statistics import wilson_interval


class Spent(NamedTuple):
    """What training has cost so far, without evaluating and compiling."""

    seconds: float
    cpu_seconds: float
    updates: int
    games: int  # ended


def show_agents(
    name: str, rows: Sequence[dict[str, Any]], end: str, units: Sequence[str]
) -> Figures:
    """Print and return how many of the learner's agents were proven, and when.

    `end` says what all of the training was; `units` are the fields of `Spent` to count
    the moments of the proofs in.
    """
    figures = pass_rate(name, rows)
    wins = [100 * row["win_rate"] for row in rows]
    figures["wins"] = show(f"{name}, mean wins v random", wins, "%", 3)
    ceiling = sum(rate >= 95.29 for rate in wins)
    print(f"{name}, mean wins at least 95.29 %: {ceiling} of {len(rows)}")
    moments = {"first": "until first proven", "kept": "until it stays proven"}
    for moment, text in (moments | {"end": end}).items():
        spent = [row[moment] for row in rows if row[moment] is not None]
        counted = () if moment == "end" else units
        figures[moment] = show_spent(f"{name}, {text}", spent, counted)
    return figures | {"agents": [as_json(row) for row in rows]}


def as_json(row: dict[str, Any]) -> Figures:
    """Return an agent's row with names in place of tuples."""
    return {k: v._asdict() if isinstance(v, Spent) else v for k, v in row.items()}


def pass_rate(name: str, rows: Sequence[Figures]) -> Figures:
    """Print how many agents ended proven, and which did not."""
    failed = [row["seed"] for row in rows if row["kept"] is None]
    proven = len(rows) - len(failed)
    low, high = (100 * end for end in wilson_interval(proven, len(rows)))
    print(
        f"{name}: {proven} of {len(rows)} seeds ({rows[0]['seed']} to "
        f"{rows[-1]['seed']}) proven unbeatable (95 % interval: {low:.1f} to "
        f"{high:.1f} %); not proven: {', '.join(map(str, failed)) or 'none'}"
    )
    return {"proven": proven, "num_seeds": len(rows), "interval": [low, high]}


def show_spent(text: str, spent: Sequence[Spent], units: Sequence[str]) -> Figures:
    """Print and return what agents cost, and after how many of each of the units."""
    if not spent:
        return {}
    timed = Timed(0.0, [s.seconds for s in spent], [s.cpu_seconds for s in spent])
    figures = {"seconds": show(text, timed.wall, "s", 2, timed)}
    for unit in units:
        values = [float(getattr(moment, unit)) for moment in spent]
        figures[unit] = show(text, values, unit, 0)
    return figures


def proven_when(
    seed: int, evaluations: Iterable[tuple[Spent, dict[str, Any]]]
) -> dict[str, Any]:
    """Train one agent; return what it had cost by its proofs, and how it ended.

    `first` is the first evaluation that proves it, None if none does; `kept` the one
    from which all do, None if the last does not.
    """
    row: dict[str, Any] = {"seed": seed, "first": None, "kept": None}
    for spent, exact in evaluations:
        if not exact["unbeatable"]:
            row["kept"] = None
        elif row["kept"] is None:
            row["kept"] = spent
        row["first"] = row["first"] or row["kept"]
        row |= {"end": spent, "win_rate": exact["win_rate"]}
        row |= {f"{seat}_win_rate": exact[seat]["win_rate"] for seat in LEARNED["both"]}
    return row
