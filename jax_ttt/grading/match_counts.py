"""Results of a match: counts by seat, and rates with 95 % intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import jax

from jax_ttt.grading.grade import Sampled, SampledRates, with_intervals
from jax_ttt.grading.statistics import wilson_interval


class Counts(NamedTuple):
    """Games won, drawn and lost by one player; int32 scalars."""

    wins: jax.Array
    draws: jax.Array
    losses: jax.Array


class Match(NamedTuple):
    """The results of `player` against `opponent`, by the player's seat."""

    first: Counts
    second: Counts


def sampled(match: Match) -> Sampled:
    """Return a match's rates with 95 % intervals, by seat and in total."""
    first, second = ([int(count) for count in counts] for counts in match)
    total = rates([a + b for a, b in zip(first, second, strict=True)])
    return Sampled(**vars(total), first=rates(first), second=rates(second))


def rates(games: Sequence[int]) -> SampledRates:
    """Return the rates of counts of won, drawn and lost games; 0 without games."""
    total = sum(games)
    shares = [count / max(total, 1) for count in games]
    intervals = [wilson_interval(count, total) for count in games]
    return with_intervals(total, shares, intervals)
