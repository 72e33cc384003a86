"""An agent's evaluation: exact where a tree is given, else by sampling."""

import json
from collections.abc import Mapping
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import UInt8

from jax_ttt.config.catalogue import Seat, SeatSetting
from jax_ttt.config.choices import SEATS_OF
from jax_ttt.evaluation import match_counts
from jax_ttt.evaluation.match_counts import Match
from jax_ttt.results import plain
from jax_ttt.results.grades import (
    Exact,
    Grades,
    Reached,
    SeatExact,
    mean_rates,
    read_grades,
)
from jax_ttt.solver.outcomes import Report, SeatResults


class Evaluation(NamedTuple):
    """An agent's results; a part is None if not requested or not available."""

    exact: Report | None
    unbeatable: jax.Array | None  # () bool, in the seats that the agent learned
    sampled: Match | None  # against random
    moves: jax.Array | None = None  # (D,) int32 in the positions to decide, if exact
    reached: np.ndarray | None = None  # of `reached_bytes`, without a tree


_REACHED_BYTES = 2**14
"""Room for the results of `reached_bytes`, so that their array has one shape."""


def reached_bytes(grades: Mapping[Seat, Reached]) -> UInt8[np.ndarray, "_"]:
    """Return results by seat as an array of one size, for a run's state.

    They are JSON, because lists of positions and moves have many lengths. No seat means
    that a search was interrupted.
    """
    text = json.dumps(plain.to_dict(Grades(reached=dict(grades)))).encode()
    return np.frombuffer(text.ljust(_REACHED_BYTES), np.uint8)


def _reached(array: UInt8[np.ndarray, "_"]) -> dict[Seat, Reached] | None:
    return read_grades(json.loads(array.tobytes())).reached or None


class Criteria(NamedTuple):
    """The criteria that compare agents; `(S,)` each if S were evaluated at once.

    The rates are means over the seats that the agent learned. Where counterexamples are
    looked for, the number of losing ends stands for the loss rate.
    """

    proven: np.ndarray  # bool: unbeatable in these seats
    loss_rate: np.ndarray  # float64, in the worst case if exact; or losing ends
    win_rate: np.ndarray  # float64, 0 to 1: against random


def summary(evaluation: Evaluation) -> Grades:
    """Return an evaluation as plain numbers.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    exact = sampled = None
    if (report := evaluation.exact) is not None:
        if not np.isfinite(report.first.random.win_rate):
            raise FloatingPointError("the network's action values are not finite")
        first, second = map(seat_grades, report)
        exact = Exact(
            **vars(mean_rates(first, second)),
            first=first,
            second=second,
            unbeatable=bool(evaluation.unbeatable),
        )
    if evaluation.sampled is not None:
        sampled = match_counts.sampled(evaluation.sampled)
    reached = None if evaluation.reached is None else _reached(evaluation.reached)
    return Grades(exact=exact, reached=reached, sampled=sampled)


def seat_grades(seat: SeatResults) -> SeatExact:
    """Return the results in one seat as plain numbers."""
    wins, draws, losses = map(float, seat.random)
    return SeatExact(
        win_rate=wins,
        draw_rate=draws,
        loss_rate=losses,
        worst_loss_rate=float(seat.worst_loss_rate),
    )


def criteria(evaluation: Evaluation, seat: SeatSetting) -> Criteria:
    """Return the criteria of agents that learned these seats.

    `evaluation` holds NumPy arrays. Rates are exact if available, else sampled, else
    NaN.
    """
    seats = SEATS_OF[seat]
    if evaluation.reached is not None:
        return _of_reached(_reached(evaluation.reached) or {})
    if (report := evaluation.exact) is not None:
        rows = [getattr(report, name) for name in seats]
        losses = [row.worst_loss_rate for row in rows]
        wins = [row.random.win_rate for row in rows]
    elif (match := evaluation.sampled) is not None:
        counts = [getattr(match, name) for name in seats]
        games = [np.maximum(sum(row), 1) for row in counts]
        losses = [row.losses / n for row, n in zip(counts, games, strict=True)]
        wins = [row.wins / n for row, n in zip(counts, games, strict=True)]
    else:
        losses = wins = [np.nan]
    means = [np.asarray(np.mean(x, axis=0, dtype=np.float64)) for x in (losses, wins)]
    proven = evaluation.unbeatable
    if proven is None:
        proven = np.zeros(means[0].shape, bool)
    return Criteria(np.asarray(proven), *means)


def _of_reached(grades: Mapping[Seat, Reached]) -> Criteria:
    """Return the criteria of one agent, whose losing ends stand for its loss rate.

    Those of a search that was not followed to its end can't be compared.
    """
    found = list(grades.values())
    complete = bool(found) and all(seat.is_complete for seat in found)
    ends = sum(seat.losing_ends for seat in found) if complete else np.nan
    wins = np.mean([seat.win_rate for seat in found]) if found else np.nan
    proven = complete and all(seat.unbeatable for seat in found)
    return Criteria(*map(np.asarray, (proven, float(ends), float(wins))))
