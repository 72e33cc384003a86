"""The difference of two groups of runs, with its interval.

Axes: `N` pairs of agents.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy import stats

from jax_ttt.api.training_result import Run, Runs, draw_groups_of_runs
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import Seat
from jax_ttt.config.grade import wilson_interval
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.text import grade_text, html
from jax_ttt.text.tables import aligned_lines

_GROUPS = ("first group", "second group")
_ROUNDING = 1e-6
"""Rates that differ by less are equal: they are sums of 32-bit numbers."""
_HEAD = ["", *_GROUPS, "difference, in points"]


class Difference(NamedTuple):
    """A figure of two groups of runs, and the difference with its 95% interval."""

    first: float
    """The share or mean of the first group, 0 to 1."""
    second: float
    """The share or mean of the second group, 0 to 1."""
    low: float
    """Lower bound of the interval of `difference`; -1 if the pairs show none."""
    high: float
    """Upper bound of the interval of `difference`; 1 if the pairs show none."""
    num_pairs: int
    """Number of pairs that count."""

    @property
    def difference(self) -> float:
        """The first minus the second."""
        return self.first - self.second

    def __str__(self) -> str:
        points = f"{100 * self.difference + 0.0:+.2f}"
        if (self.low, self.high) == (-1, 1):
            pairs = f"all {self.num_pairs:,} pairs agree"
            return f"{points} ({pairs if self.num_pairs > 1 else 'one pair'})"
        return f"{points} ({100 * self.low:+.2f} to {100 * self.high:+.2f})"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Comparison:
    """Two groups of runs, compared by pairs of agents with the same seed.

    A `Difference` has `first`, `second`, their `difference`, and `low` and `high`, the
    bounds of its 95% interval. If an interval contains 0, the pairs do not show which
    group is better. Each interval stands for itself: of twenty, one may be wrong.

    Attributes:
        seeds: The seeds that both groups have.
        proven: The shares of proven agents, with Newcombe's interval for pairs; None
            where no proof is possible. An agent that diverged, or of which it is not
            known, counts as not proven.
        win_rates: The mean win rates against random by seat, with the t interval of the
            pairs' differences. Pairs in which an agent diverged are left out. If all
            pairs agree, they don't show how much others differ: there is no interval.
        loss_rates: The mean loss rates against random, as `win_rates`.
        groups: Both groups of runs.

    Examples:
        >>> long = jax_ttt.train_many(range(4), preset="table")
        >>> short = jax_ttt.train_many(range(4), preset="table", num_updates=40)
        >>> result = jax_ttt.compare(long, short)
        >>> result.proven.first, result.proven.second, result.seeds
        (1.0, 0.0, (0, 1, 2, 3))
        >>> result.proven.low > 0
        True
    """

    seeds: tuple[int, ...]
    proven: Difference | None
    win_rates: dict[Seat, Difference]
    loss_rates: dict[Seat, Difference]
    groups: tuple[Runs, Runs]

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the learning curves of both groups, each as its mean and range."""
        return draw_groups_of_runs(dict(zip(_GROUPS, self.groups, strict=True)), theme)

    def _title(self) -> str:
        return f"{len(self.seeds):,} pairs of agents with the same seed, 95% intervals"

    def _rows(self) -> list[list[str]]:
        figures = {} if self.proven is None else {"proven": self.proven}
        for noun, by_seat in (("wins", self.win_rates), ("losses", self.loss_rates)):
            for seat, difference in by_seat.items():
                figures[f"{noun} {grade_text.seat_phrase(seat)}"] = difference
        return [
            [
                name,
                f"{one.first:.2%}",
                f"{one.second:.2%}",
                str(one),
            ]
            for name, one in figures.items()
        ]

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned_lines([_HEAD, *self._rows()])])

    def _repr_html_(self) -> str:
        return html.html_table(self._title(), self._rows(), _HEAD)


def compare(runs: Runs, others: Runs) -> Comparison:
    """Return how two groups of runs differ, with 95% intervals.

    Agents with the same seed are a pair: they begin with the same random numbers, so a
    pair differs less than two agents of different seeds. Seeds that only one group has
    are left out.

    Args:
        runs: The first group, of `train_many`.
        others: The second group, for instance with another setting.

    Raises:
        Refused: an argument is not a group of runs; the groups are of different games;
            or they have fewer than two seeds in common.

    Examples:
        >>> runs = jax_ttt.train_many(range(4), preset="table")
        >>> others = jax_ttt.train_many(range(4), preset="table", num_updates=40)
        >>> jax_ttt.compare(runs, others).proven.difference
        1.0
    """
    for group in (runs, others):
        if not isinstance(group, Runs):
            raise Refused("compare needs two groups of runs, each of train_many")
    games = {runs.config.env_id, others.config.env_id}
    if len(games) > 1:
        raise Refused(f"runs of different games: {', '.join(sorted(games))}")
    first, second = _by_seed(runs), _by_seed(others)
    seeds = tuple(sorted(first.keys() & second.keys()))
    if len(seeds) < 2:
        raise Refused("compare needs two or more seeds that both groups have")
    pairs = [(first[seed], second[seed]) for seed in seeds]
    proven = None
    if runs.config.can_be_proven and others.config.can_be_proven:
        proven = difference_of_shares(
            np.array([one is not None and one.is_proven for one, _ in pairs]),
            np.array([other is not None and other.is_proven for _, other in pairs]),
        )
    trained = [(one, other) for one, other in pairs if one and other]
    seats: list[Seat] = [s for s in runs.config.seats if s in others.config.seats]
    return Comparison(
        seeds=seeds,
        proven=proven,
        win_rates=_rates(trained, seats, "win_rate"),
        loss_rates=_rates(trained, seats, "loss_rate"),
        groups=(runs, others),
    )


def _by_seed(runs: Runs) -> dict[int, Run | None]:
    """Return the runs by their seeds; None for one that diverged."""
    return {run.seed: run for run in runs} | dict.fromkeys(runs.diverged)


def _rates(
    pairs: Sequence[tuple[Run, Run]], seats: Sequence[Seat], name: str
) -> dict[Seat, Difference]:
    """Return the differences of a mean rate, in the seats where all agents have one."""
    differences: dict[Seat, Difference] = {}
    for seat in seats:
        rates = [[run.agent.grade.rates.get(seat) for run in pair] for pair in pairs]
        if rates and all(None not in pair for pair in rates):
            values = np.array([[getattr(r, name) for r in pair] for pair in rates])
            differences[seat] = difference_of_means(values[:, 0], values[:, 1])
    return differences


def difference_of_means(
    first: Float[np.ndarray, " N"], second: Float[np.ndarray, " N"]
) -> Difference:
    """Return the difference of the means of pairs, with its t interval.

    The interval holds if the differences of the pairs are about normal. It is all that
    is possible, -1 to 1, if all are equal, but for rounding, or with one pair. Source:
    Student 1908, "The probable error of a mean".
    """
    low, high = -1.0, 1.0
    if np.ptp(first - second) > _ROUNDING:
        low, high = stats.ttest_rel(first, second).confidence_interval()
    return Difference(
        first=float(first.mean()),
        second=float(second.mean()),
        low=float(low),
        high=float(high),
        num_pairs=len(first),
    )


def difference_of_shares(
    first: Bool[np.ndarray, " N"], second: Bool[np.ndarray, " N"]
) -> Difference:
    """Return the difference of the shares of pairs, with Newcombe's interval.

    The interval is made of the Wilson intervals of both shares and of the correlation
    of the pairs, with a correction for continuity. Source: Newcombe 1998, "Improved
    confidence intervals for the difference between binomial proportions based on
    paired data", method 10.
    """
    num_pairs = len(first)
    share, other_share = float(first.mean()), float(second.mean())
    low, high = wilson_interval(int(first.sum()), num_pairs)
    other_low, other_high = wilson_interval(int(second.sum()), num_pairs)
    correlation = _correlation(first, second)
    difference = share - other_share
    below = _distance(share - low, other_high - other_share, correlation)
    above = _distance(high - share, other_share - other_low, correlation)
    return Difference(
        first=share,
        second=other_share,
        low=difference - below,
        high=difference + above,
        num_pairs=num_pairs,
    )


def _distance(one: float, other: float, correlation: float) -> float:
    """Return the distance of two bounds together, from those of each share."""
    squared = one**2 - 2 * correlation * one * other + other**2
    return math.sqrt(max(squared, 0.0))


def _correlation(
    first: Bool[np.ndarray, " N"], second: Bool[np.ndarray, " N"]
) -> float:
    """Return the correlation of pairs, nearer to 0 by the correction for continuity.

    It is 0 if all agents of a group have the same result.
    """
    num_pairs, num_first, num_second = len(first), first.sum(), second.sum()
    both, neither = (first & second).sum(), (~first & ~second).sum()
    covariance = float(both * neither - (num_first - both) * (num_second - both))
    if covariance > 0:
        covariance = max(covariance - num_pairs / 2, 0.0)
    sides = float(num_first * (num_pairs - num_first))
    sides *= float(num_second * (num_pairs - num_second))
    return covariance / math.sqrt(sides) if sides else 0.0
