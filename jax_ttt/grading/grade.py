"""Grades of a player: exact results and sampled results.

Rates are fractions, 0 to 1, of the graded player's wins, draws and losses. Imports no
JAX.
"""

import dataclasses
from collections.abc import Sequence
from typing import Literal, get_args

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.grading.exam import Exam

Rate = Literal["win_rate", "draw_rate", "loss_rate"]
RATES: tuple[Rate, ...] = get_args(Rate)
"""The fields of `Rates`, in order."""

Interval = tuple[float, float]
"""Lower and upper end of a 95 % interval."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rates:
    """How often a player wins, draws and loses; the three rates add up to 1."""

    win_rate: float
    draw_rate: float
    loss_rate: float

    def rate(self, name: Rate) -> float:
        """Return the rate of this name."""
        return getattr(self, name)

    @property
    def all_rates(self) -> tuple[float, float, float]:
        """The rates of wins, draws and losses."""
        return self.win_rate, self.draw_rate, self.loss_rate


def mean_rates(*seats: Rates) -> Rates:
    """Return the mean of the seats' rates."""
    rates = zip(*(seat.all_rates for seat in seats), strict=True)
    wins, draws, losses = (sum(of_seats) / len(seats) for of_seats in rates)
    return Rates(win_rate=wins, draw_rate=draws, loss_rate=losses)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeatExact(Rates):
    """Exact results in one seat against random."""

    worst_loss_rate: float  # against the opponent that beats the player most often


def is_exact(rates: Rates) -> bool:
    """Return whether the rates of a seat are exact."""
    return isinstance(rates, SeatExact)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exact(Rates):
    """Exact results against random: the mean of both seats, and each seat."""

    first: SeatExact
    second: SeatExact
    unbeatable: bool  # in the seats that the player learned

    def seat(self, seat: Seat) -> SeatExact:
        """Return the results in one seat."""
        return self.first if seat == "first" else self.second


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lines:
    """Numbers of lines of play by their result, over all moves of the opponent."""

    won: int
    drawn: int
    lost: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimalMoveRate:
    """How often the player chooses a move that is optimal by minimax, 0 to 1."""

    all: float  # over all decisions, the positions in which a player moves
    reachable: float  # over its decisions that can occur against some opponent
    num_reachable: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class FullExact(Exact):
    """All exact results of a player, computed over the game tree."""

    opponents: dict[str, dict[Seat, Rates]]  # by the opponent's name
    lines: dict[Seat, Lines]
    exploitability: float  # gain of a best response, mean of both seats: 0 to 1
    optimal_move_rate: OptimalMoveRate
    mean_abs_q_error: float | None = None  # mean |Q - minimax|, saved agents only


@dataclasses.dataclass(frozen=True, kw_only=True)
class SampledRates(Rates):
    """Rates measured in a match, with their 95 % intervals."""

    num_games: int
    win_rate_interval: Interval
    draw_rate_interval: Interval
    loss_rate_interval: Interval

    def interval(self, name: Rate) -> Interval:
        """Return the interval of the rate of this name."""
        return getattr(self, f"{name}_interval")


def with_intervals(
    num_games: int, rates: Sequence[float], intervals: Sequence[Interval]
) -> SampledRates:
    """Return sampled rates; `rates` and `intervals` are of wins, draws and losses."""
    wins, draws, losses = rates
    of_wins, of_draws, of_losses = intervals
    return SampledRates(
        num_games=num_games,
        win_rate=wins,
        draw_rate=draws,
        loss_rate=losses,
        win_rate_interval=of_wins,
        draw_rate_interval=of_draws,
        loss_rate_interval=of_losses,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Disagreement:
    """An exact rate that is outside its sampled interval."""

    seat: Seat
    rate: Rate


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sampled(SampledRates):
    """A sampled match against random: results of all games, and of each seat."""

    first: SampledRates
    second: SampledRates
    disagreements: tuple[Disagreement, ...] | None = None  # None: no exact results

    def seat(self, seat: Seat) -> SampledRates:
        """Return the results in one seat."""
        return self.first if seat == "first" else self.second


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reached(Rates):
    """Exact results in one seat, from all positions that the player reaches.

    The rates are against random, of the games that are decided by `num_moves` moves.
    """

    open_rate: float  # of the games that go on then; 0 where all are decided
    is_complete: bool  # whether all lines of play were followed to their ends
    num_moves: int
    num_positions: int  # in which nobody has won
    positions: tuple[int, ...]  # by moves made, in which games go on
    merged: bool  # whether symmetric boards count as one position
    lines: Lines
    losing_ends: int  # pairs of a position and the move that the player loses by
    losing_line: tuple[int, ...] | None = None  # a shortest one, as actions
    losing_choices: int | None = None
    """Positions found on losing lines in which the player has a choice."""

    @property
    def unbeatable(self) -> bool:
        """Whether no line of play by any opponent beats the player in this seat."""
        return self.is_complete and not self.losing_ends


def _exact_seat(search: Reached) -> SeatExact:
    """Return the exact results in a seat that was searched to the end."""
    return SeatExact(
        win_rate=search.win_rate,
        draw_rate=search.draw_rate,
        loss_rate=search.loss_rate,
        # The player has one move in each position, so a line that loses always does.
        worst_loss_rate=0.0 if search.unbeatable else 1.0,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Grades:
    """An evaluation; a part is None if it was not requested or is not available."""

    exact: Exact | None = None
    reached: dict[Seat, Reached] | None = None  # where no tree is enumerated
    sampled: Sampled | None = None

    @property
    def rates(self) -> dict[Seat, SeatExact | SampledRates]:
        """The best known rates against random, of the seats that have any.

        They are exact over the tree, or in a seat that was searched to the end; else
        sampled.
        """
        found: dict[Seat, SeatExact | SampledRates] = {}
        for seat in SEATS:
            search = (self.reached or {}).get(seat)
            if self.exact is not None:
                found[seat] = self.exact.seat(seat)
            elif search is not None and search.is_complete:
                found[seat] = _exact_seat(search)
            elif self.sampled is not None:
                found[seat] = self.sampled.seat(seat)
        return found

    def mean(self, seats: Sequence[Seat] = SEATS) -> Rates | None:
        """Return the mean of the best known rates in these seats; None if one has none.

        If both are sampled, they are the rates of all games.
        """
        found = [rates for seat, rates in self.rates.items() if seat in seats]
        if len(found) < len(seats):
            return None
        if set(seats) == set(SEATS) and not any(map(is_exact, found)):
            return self.sampled
        return mean_rates(*found)

    @property
    def is_proven(self) -> bool:
        """Whether the player is proven unbeatable; False without exact results."""
        if self.exact is None and self.reached:
            return all(seat.unbeatable for seat in self.reached.values())
        return self.exact is not None and self.exact.unbeatable

    @property
    def has_verdict(self) -> bool:
        """Whether exact results say if the player can be beaten."""
        if not self.reached:
            return self.exact is not None
        decided = all(seat.is_complete for seat in self.reached.values())
        return decided or any(seat.losing_ends for seat in self.reached.values())

    @property
    def parts(self) -> "Grades":
        """Only the grades, of a record that has more fields."""
        return Grades(exact=self.exact, reached=self.reached, sampled=self.sampled)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FullGrades(Grades):
    """The grades of the full report of `evaluate`."""

    exact: FullExact | None = None
    exam: Exam | None = None
