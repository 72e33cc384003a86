"""An agent's evaluation: exact where a tree is given, else by sampling.

The module imports neither games nor networks, so a run need not load them.
"""

from typing import NamedTuple

import jax
import numpy as np

from jax_ttt.config.catalogue import SeatSetting
from jax_ttt.config.choices import SEATS_OF
from jax_ttt.evaluation import match_counts
from jax_ttt.evaluation.match_counts import Counts, Match
from jax_ttt.results.grades import Exact, Grades, SeatExact, mean_rates
from jax_ttt.solver.outcomes import Outcome, Report, SeatResults


class Evaluation(NamedTuple):
    """An agent's results; a part is None if not requested or not available."""

    exact: Report | None
    unbeatable: jax.Array | None  # () bool, in the seats that the agent learned
    sampled: Match | None  # against random
    moves: jax.Array | None = None  # (D,) int32 in the positions to decide, if exact


TYPES = (Evaluation, Report, SeatResults, Outcome, Match, Counts)
"""All types of the pytree of an evaluation."""


class Criteria(NamedTuple):
    """The criteria that compare agents; `(S,)` each if S were evaluated at once.

    The rates are means over the seats that the agent learned.
    """

    proven: np.ndarray  # bool: unbeatable in these seats
    loss_rate: np.ndarray  # float64, 0 to 1: in the worst case if exact
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
    return Grades(exact=exact, sampled=sampled)


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
