"""An agent's evaluation: exact where a tree is given, else by sampling."""

from typing import NamedTuple

import jax
import numpy as np

from jax_ttt.config.catalogue import Seat
from jax_ttt.grading import match_counts
from jax_ttt.grading.grade import (
    Exact,
    Grades,
    Reached,
    SeatExact,
    mean_rates,
)
from jax_ttt.grading.match_counts import Match
from jax_ttt.solver.outcomes import Report, SeatResults


class Evaluation(NamedTuple):
    """An agent's results; a part is None if not requested or not available."""

    exact: Report | None
    unbeatable: jax.Array | None  # () bool, in the seats that the agent learned
    sampled: Match | None  # against random
    moves: jax.Array | None = None  # (D,) int32 in the positions to decide, if exact
    reached: dict[Seat, Reached] | None = None  # without a tree; {}: interrupted


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
    return Grades(exact=exact, reached=evaluation.reached or None, sampled=sampled)


def seat_grades(seat: SeatResults) -> SeatExact:
    """Return the results in one seat as plain numbers."""
    wins, draws, losses = map(float, seat.random)
    return SeatExact(
        win_rate=wins,
        draw_rate=draws,
        loss_rate=losses,
        worst_loss_rate=float(seat.worst_loss_rate),
    )
