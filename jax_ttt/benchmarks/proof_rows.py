"""Agents by when they were proven: a row for each, and the figures of many."""

import dataclasses
from collections.abc import Iterable, Sequence

from jax_ttt.benchmarks.timing import Figures, Timed, show
from jax_ttt.evaluation.statistics import wilson_interval
from jax_ttt.results import plain
from jax_ttt.results.grades import Exact


@dataclasses.dataclass(frozen=True)
class Spent:
    """What training has cost so far, without evaluating and compiling."""

    seconds: float
    cpu_seconds: float
    updates: int
    games: int  # ended


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProofRow:
    """What one agent had cost by its proofs, and how it ended."""

    seed: int
    first_proven: Spent | None  # by the first evaluation that proves it
    proven_from: Spent | None  # by the one from which all do
    end: Spent
    exact: Exact  # at the end


def show_agents(
    name: str, rows: Sequence[ProofRow], end: str, units: Sequence[str]
) -> Figures:
    """Print and return how many of the learner's agents were proven, and when.

    `end` says what all of the training was; `units` are the fields of `Spent` to count
    the moments of the proofs in.
    """
    figures = pass_rate(name, rows)
    wins = [100 * row.exact.win_rate for row in rows]
    figures["wins"] = show(f"{name}, mean wins v random", wins, "%", 3)
    ceiling = sum(rate >= 95.29 for rate in wins)
    print(f"{name}, mean wins at least 95.29 %: {ceiling} of {len(rows)}")
    moments = {
        "first_proven": "until first proven",
        "proven_from": "until it stays proven",
        "end": end,
    }
    for moment, text in moments.items():
        spent = [s for row in rows if (s := getattr(row, moment)) is not None]
        counted = () if moment == "end" else units
        figures[moment] = show_spent(f"{name}, {text}", spent, counted)
    return figures | {"agents": [plain.to_dict(row) for row in rows]}


def pass_rate(name: str, rows: Sequence[ProofRow]) -> Figures:
    """Print how many agents ended proven, and which did not."""
    failed = [row.seed for row in rows if row.proven_from is None]
    proven = len(rows) - len(failed)
    low, high = (100 * end for end in wilson_interval(proven, len(rows)))
    print(
        f"{name}: {proven} of {len(rows)} seeds ({rows[0].seed} to "
        f"{rows[-1].seed}) proven unbeatable (95 % interval: {low:.1f} to "
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


def proven_when(seed: int, evaluations: Iterable[tuple[Spent, Exact]]) -> ProofRow:
    """Train one agent; return what it had cost by its proofs, and how it ended.

    Raises:
        ValueError: there is no evaluation.
    """
    first = kept = end = exact = None
    for end, exact in evaluations:
        if not exact.unbeatable:
            kept = None
        elif kept is None:
            kept = end
        first = first or kept
    if end is None or exact is None:
        raise ValueError(f"seed {seed}: no evaluation")
    return ProofRow(
        seed=seed, first_proven=first, proven_from=kept, end=end, exact=exact
    )
