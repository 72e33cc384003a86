"""The grade of a player: how strong it is, and whether it can be beaten.

A grade is one record for every method: exact over a game's tree, exact over all
positions that the player reaches, or sampled in games. Rates are fractions, 0 to 1, of
the player's games against a random opponent unless another one is named.
"""

import dataclasses
import html
import importlib
import math
import types
from collections.abc import Iterable, Sequence
from typing import Literal, SupportsFloat, SupportsInt, get_args

from jax_ttt.config.game_facts import SEATS, EnvId, Goal, Seat

Evidence = Literal["construction", "signature", "asked", "none"]
"""How sure it is which moves a player plays: what a verdict about it may say.

| evidence | whose moves | a verdict may say |
|---|---|---|
| construction | networks, tables, minimax, a policy as a matrix | proven |
| signature | a function of the state alone, traced by JAX once, no effects | proven |
| asked | a program, or a function that JAX can't trace | proven of the moves it gave |
| none | chance whose probabilities are not known, or answers that change | a sample |

`SeatGrade` decides by it what is unbeatable.
"""


def weakest(*evidence: Evidence) -> Evidence:
    """Return the weakest of these kinds of evidence."""
    return max(evidence, key=get_args(Evidence).index)


Interval = tuple[float, float]
"""A lower and an upper bound."""
ResultRates = tuple[float, float, float]
"""Rates of games won, drawn and lost."""
_ROUNDING = 1e-3
"""How far from 0 to 1 a rate may be: a sum of rounded shares."""


def wilson_interval(successes: int, num_games: int, z: float = 1.96) -> Interval:
    """Return the interval, 95% by default, of a rate observed in `num_games` games.

    Without games it is 0 to 1. Source: Wilson 1927, "Probable inference, the law of
    succession, and statistical inference".
    """
    if not num_games:
        return 0.0, 1.0
    rate, share = successes / num_games, z * z / num_games
    centre = (rate + share / 2) / (1 + share)
    half = math.sqrt(rate * (1 - rate) * share + share * share / 4) / (1 + share)
    # Of rates of 0 and 1, rounding could leave the rate outside.
    return max(0.0, min(centre - half, rate)), min(1.0, max(centre + half, rate))


def _checked_rate(name: str, rate: float) -> float:
    """Return a rate within 0 to 1, which a sum of rounded shares may miss.

    Raises:
        ValueError: it misses it by more than rounding does.
    """
    if not -_ROUNDING <= rate <= 1 + _ROUNDING:
        raise ValueError(f"{name} must be from 0 to 1, got {rate}")
    return min(max(rate, 0.0), 1.0)


def _check_rates(record: "Rates | Details") -> None:
    """Check the rates of a new record, and clip them to 0 to 1."""
    for field in dataclasses.fields(record):
        rate = getattr(record, field.name)
        if field.name.endswith(("_rate", "exploitability")) and rate is not None:
            rate = _checked_rate(field.name, rate)
            object.__setattr__(record, field.name, rate)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rates:
    """How often a player wins, draws and loses, with bounds of these rates.

    The rates add up to 1, but where lines of play were not followed to their ends: they
    and the rate of open games add up to 1. Bounds are for wins, draws and losses, in
    this order. Those of an exact rate are the rate itself.
    """

    win_rate: float
    """Games won."""
    draw_rate: float
    """Games drawn."""
    loss_rate: float
    """Games lost."""
    low: ResultRates
    """Lower bounds: 95% where games were sampled, certain where a search ended
    early."""
    high: ResultRates
    """Upper bounds, in the same way."""
    num_games: int = 0
    """Sampled games; 0 where none were."""
    evidence: Evidence = "none"
    """How sure the moves are that the results follow from; `none` for sampled games."""

    def __post_init__(self) -> None:
        _check_rates(self)
        for name in ("low", "high"):
            bounds = getattr(self, name)
            bounds = tuple(_checked_rate(name, bound) for bound in bounds)
            object.__setattr__(self, name, bounds)
        for low, rate, high in zip(self.low, self.rates, self.high, strict=True):
            if not low <= rate <= high:
                raise ValueError(f"the rate {rate} is not within {low} to {high}")

    @classmethod
    def of(
        cls,
        rates: Iterable[SupportsFloat],
        low: Iterable[float] | None = None,
        high: Iterable[float] | None = None,
        num_games: int = 0,
        evidence: Evidence = "none",
    ) -> "Rates":
        """Return the rates of wins, draws and losses; without bounds they are exact."""
        win_rate, draw_rate, loss_rate = exact = _triple(rates)
        return Rates(
            win_rate=win_rate,
            draw_rate=draw_rate,
            loss_rate=loss_rate,
            low=exact if low is None else _triple(low),
            high=exact if high is None else _triple(high),
            num_games=num_games,
            evidence=evidence,
        )

    @classmethod
    def sampled(cls, counts: Iterable[SupportsInt]) -> "Rates":
        """Return the rates of sampled games, with 95% intervals.

        `counts` are the numbers of games won, drawn and lost. Without games the rates
        are 0 and the intervals 0 to 1.
        """
        numbers = [int(count) for count in counts]
        num_games = sum(numbers)
        rates = [number / max(num_games, 1) for number in numbers]
        intervals = [wilson_interval(number, num_games) for number in numbers]
        low, high = zip(*intervals, strict=True)
        return Rates.of(rates, low, high, num_games=num_games)

    @property
    def rates(self) -> ResultRates:
        """The rates of wins, draws and losses."""
        return self.win_rate, self.draw_rate, self.loss_rate

    @property
    def is_exact(self) -> bool:
        """Whether the rates are exact."""
        return self.low == self.high

    def interval(self, rate: float) -> Interval:
        """Return the bounds of a rate of this record, for instance its `win_rate`.

        The rate is found by its value; of equal ones, the first one is meant.
        """
        place = self.rates.index(rate)
        return self.low[place], self.high[place]

    def of_opponent(self) -> "Rates":
        """Return the rates of the opponent in the same games."""
        return Rates.of(
            rates=reversed(self.rates),
            low=reversed(self.low),
            high=reversed(self.high),
            num_games=self.num_games,
            evidence=self.evidence,
        )


def _triple(values: Iterable[SupportsFloat]) -> ResultRates:
    won, drawn, lost = map(float, values)
    return won, drawn, lost


def mean_rates(parts: Sequence[Rates]) -> Rates:
    """Return the rates over several seats.

    If all are sampled, each game counts alike: one seat may have more games. Otherwise
    each seat counts alike.
    """
    if not any(part.is_exact for part in parts):
        counts = [[round(x * part.num_games) for x in part.rates] for part in parts]
        return Rates.sampled(map(sum, zip(*counts, strict=True)))
    evidence: list[Evidence] = [part.evidence for part in parts]
    return Rates.of(
        rates=_means([part.rates for part in parts]),
        low=_means([part.low for part in parts]),
        high=_means([part.high for part in parts]),
        num_games=sum(part.num_games for part in parts),
        evidence=weakest(*evidence),
    )


def _means(rows: Sequence[ResultRates]) -> list[float]:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lines:
    """Numbers of lines of play by their result, over all moves of the opponent."""

    won: int
    """Lines that the player wins."""
    drawn: int
    """Lines that end in a draw."""
    lost: int
    """Lines that the player loses."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeatGrade(Rates):
    """What is proven of a player in one seat, and its rates against random.

    All lines of play were followed, or those to a number of moves.
    """

    worst_loss_rate: float | None = None
    """Games lost against the opponent that beats the player most often."""
    complete: bool | None = None
    """Whether every line of play was followed to its end; None without a search."""
    beaten: bool | None = None
    """Whether a line that beats the player is known; None without a search, and where
    that depends on how its values are rounded."""
    losing_line: tuple[int, ...] | None = None
    """The actions of a shortest line that beats the player, if one is known."""
    wins_all: bool | None = None
    """Whether every line of play is won; None if it is not known, or `lines` says
    it; False, whatever these say, where that depends on rounding."""
    near_loss: tuple[int, ...] | None = None
    """The actions of a line that beats the player if it makes a move in it whose value
    is the highest one but for rounding; then `beaten` is absent."""
    lines: Lines | None = None
    """Lines of play against any opponent, over a game's tree."""
    optimal_move_rate: float | None = None
    """How often the move is optimal by minimax, over all positions of the seat."""
    num_positions: int | None = None
    """Positions that the player reaches and in which nobody has won."""
    positions: tuple[int, ...] | None = None
    """Those of them in which the game goes on, by the number of moves made."""
    merged: bool | None = None
    """Whether symmetric boards count as one position."""
    num_moves: int | None = None
    """The number of moves up to which all lines were followed."""
    open_rate: float | None = None
    """Games that go on after these moves; 0 where all are decided."""
    losing_ends: int | None = None
    """The number of pairs of a position and a move by which the player loses."""
    losing_choices: int | None = None
    """The number of positions on losing lines in which the player has a choice."""
    corrections: tuple[int, ...] | None = None
    """The number of corrections that it plays, by the number of moves made; None for a
    player without corrections."""
    num_corrections: int | None = dataclasses.field(init=False, default=None)
    """The number of corrections that it plays; None for a player without any."""
    proven: Goal | None = dataclasses.field(init=False, default=None)
    """What is proven, with these corrections: the player never loses, or it wins every
    game; None if neither is."""
    unbeatable: bool | None = dataclasses.field(init=False, default=None)
    """Whether no line of play by any opponent beats the player; None: not known."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # `unbeatable` follows from three other fields:
        #
        #   complete        beaten          evidence    unbeatable
        #   any             True            any         False: one losing line is enough
        #   True            False           not none    True: no line loses
        #   all others                                  None: not known
        #
        # `proof.can_be_beaten` is exact: it is the `beaten` of a complete record.
        # The record is also read from files, so a contradiction is refused.
        losses = [self.loss_rate, self.worst_loss_rate, self.losing_ends]
        losses += [
            self.complete and self.losing_choices,
            self.lines and self.lines.lost,
        ]
        if self.beaten is False and (any(losses) or self.losing_line is not None):
            raise ValueError("the player loses, but `beaten` is false")
        if self.complete and (not self.is_exact or self.open_rate):
            raise ValueError("games are open or sampled, but `complete` is true")
        unbeatable = None
        if self.beaten:
            unbeatable = False
        elif self.complete and self.beaten is False and self.evidence != "none":
            unbeatable = True
        object.__setattr__(self, "unbeatable", unbeatable)
        if self.corrections is not None:
            object.__setattr__(self, "num_corrections", sum(self.corrections))
        if unbeatable:
            wins_all = self.wins_all
            if self.lines is not None:
                all_won = self.lines.won > 0 and not self.lines.drawn
                wins_all = all_won and wins_all is not False
            wins_all = wins_all and not self.draw_rate
            object.__setattr__(self, "proven", "win" if wins_all else "not-lose")


def _texts() -> types.ModuleType:
    """Return the module that prints results: it needs JAX, which is not loaded here."""
    return importlib.import_module("jax_ttt.text.grade_text")


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Match:
    """A player's rates against an opponent, by the player's seat.

    Rates are from 0 to 1; if they are exact, the number of games is 0.

    Examples:
        >>> match = jax_ttt.match("minimax", "random")
        >>> match.is_exact, match.first.loss_rate
        (True, 0.0)
        >>> match.first.low == match.first.high
        True
    """

    env_id: EnvId | None = None
    """The game; absent in a part of a grade, as the names."""
    player: str | None = None
    """The player's name."""
    opponent: str | None = None
    """The opponent's name."""
    first: Rates
    """Rates when it moves first."""
    second: Rates
    """Rates when it moves second."""
    both: Rates = dataclasses.field(init=False)
    """Rates of all games; where the seats are exact, their mean."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "both", mean_rates([self.first, self.second]))

    @property
    def is_exact(self) -> bool:
        """Whether the rates are exact, not sampled."""
        return self.first.is_exact

    def seat(self, seat: Seat) -> Rates:
        """Return the rates in one seat."""
        return self.first if seat == "first" else self.second

    def __repr__(self) -> str:
        return _texts().match_text(self)

    def _repr_html_(self) -> str:
        return _texts().match_html(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Details:
    """What is known only of a policy over a game's whole tree."""

    opponents: dict[str, Match]
    """Exact results against other opponents, by their names."""
    exploitability: float
    """The best opponent's rate of wins minus its rate of losses, mean of both seats: 0
    to 1.

    Source: Lanctot et al. 2017, NashConv divided by the number of players.
    """
    optimal_move_rate: float
    """How often the player's move is optimal by minimax, over all positions."""
    reachable_optimal_move_rate: float
    """How often it is optimal in the positions that occur against some opponent."""
    num_reachable: int
    """The number of these positions."""
    mean_abs_q_error: float | None = None
    """Mean of |Q - minimax| over all legal moves; only for saved agents."""

    def __post_init__(self) -> None:
        _check_rates(self)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Grade:
    """The grade of a player; a part is None where it is unknown or not requested.

    Rates are from 0 to 1.

    Examples:
        >>> grade = jax_ttt.grade("minimax")
        >>> grade.unbeatable, grade.loss_rate
        (True, 0.0)
        >>> grade.first.lines
        Lines(won=27456, drawn=3584, lost=0)
        >>> grade.details.exploitability
        0.0
    """

    env_id: EnvId
    """The game."""
    player: str | None = None
    """The player's name; absent where the file or the output has it."""
    note: str | None = None
    """Why games were sampled: why the player's moves are not known, or can't be
    followed; absent where they were followed, and in files."""
    likeliest_game: tuple[int, ...] | None = None
    """The moves of the player's likeliest game against itself, over the tree of an
    enumerable game; absent if the policy is unknown, and in files."""
    seats: tuple[Seat, ...] = SEATS
    """The graded seats: by default those that the player learned, both if it does not
    learn."""
    first: SeatGrade | None = None
    """Results moving first, from the game's tree or from all positions that the player
    reaches; absent where neither is possible."""
    second: SeatGrade | None = None
    """Results moving second, in the same way."""
    sampled: Match | None = None
    """A match against random with 95% intervals; absent if not played."""
    details: Details | None = None
    """Results against other opponents, exploitability and more, over the tree of an
    enumerable game; absent if the policy is unknown."""
    asked_twice: float | None = None
    """Share of the positions that a program, or a function that JAX can't trace, was
    asked for twice, 0 to 1; absent for other players.

    Its answers were the same, and the grade is that of a player who always gives them.
    """
    evidence: Evidence = dataclasses.field(init=False, default="none")
    """The weakest evidence of the graded seats; `none` if the lines of play of one were
    not followed."""
    by_file: bool | None = dataclasses.field(default=None, compare=False)
    """True for a grade that a file says, and that was not computed from the player;
    else absent. What a file itself says of this is ignored."""
    unbeatable: bool | None = dataclasses.field(init=False, default=None)
    """Whether no line of play by any opponent beats the player in these seats; None:
    not known."""

    def after_reading(self, value: object) -> None:
        """Note that a file says this, whatever the file has in the field."""
        object.__setattr__(self, "by_file", True)

    def __post_init__(self) -> None:
        if not self.seats:
            raise ValueError("seats must not be empty")
        parts = [self.seat(seat) for seat in self.seats]
        evidence: list[Evidence] = [part.evidence for part in parts if part is not None]
        if len(evidence) == len(parts):
            object.__setattr__(self, "evidence", weakest(*evidence))
        verdicts = {self.unbeatable_in(seat) for seat in self.seats}
        unbeatable = None
        if False in verdicts:
            unbeatable = False
        elif verdicts == {True}:
            unbeatable = True
        object.__setattr__(self, "unbeatable", unbeatable)

    def unbeatable_in(self, seat: Seat) -> bool | None:
        """Return whether no line of play beats the player in a seat; None: unknown."""
        grade = self.seat(seat)
        return None if grade is None else grade.unbeatable

    def seat(self, seat: Seat) -> SeatGrade | None:
        """Return what is known from following lines of play in one seat."""
        return self.first if seat == "first" else self.second

    @property
    def proven(self) -> Goal | None:
        """The goal that is proven in every seat that the player learned."""
        goals = {
            None if grade is None else grade.proven
            for grade in map(self.seat, self.seats)
        }
        if None in goals:
            return None
        return "win" if goals == {"win"} else "not-lose"

    @property
    def num_corrections(self) -> int | None:
        """Corrections played in the learned seats; None for a player without any."""
        numbers = [
            grade.num_corrections
            for seat, grade in self.followed.items()
            if seat in self.seats and grade.num_corrections is not None
        ]
        return sum(numbers) if numbers else None

    @property
    def followed(self) -> dict[Seat, SeatGrade]:
        """The seats in which lines of play were followed."""
        seats: dict[Seat, SeatGrade] = {}
        for seat in SEATS:
            if (grade := self.seat(seat)) is not None:
                seats[seat] = grade
        return seats

    @property
    def searched(self) -> dict[Seat, SeatGrade]:
        """The seats in which the positions that the player reaches were enumerated.

        Only such a search counts the opponent's winning replies.
        """
        return {
            seat: grade
            for seat, grade in self.followed.items()
            if grade.losing_ends is not None
        }

    @property
    def rates(self) -> dict[Seat, Rates]:
        """The best known rates against random, of the seats that have any.

        They are exact where all lines of play were followed, else sampled.
        """
        best: dict[Seat, Rates] = {}
        for seat in SEATS:
            grade = self.seat(seat)
            if grade is not None and grade.is_exact:
                best[seat] = grade
            elif self.sampled is not None:
                best[seat] = self.sampled.seat(seat)
        return best

    def mean_rates(self, seats: Sequence[Seat] | None = None) -> ResultRates | None:
        """Return the mean win, draw and loss rate of seats; None if one has none.

        By default they are the graded seats, as in `win_rate`.
        """
        seats = self.seats if seats is None else seats
        rates = [self.rates[seat] for seat in seats if seat in self.rates]
        return mean_rates(rates).rates if len(rates) == len(seats) else None

    @property
    def verdict(self) -> str:
        """The result in words.

        Either the player is unbeatable, or there is a shortest line that beats it. If
        neither is proven, the text has the sampled loss rate.
        """
        return _texts().verdict(self)

    @property
    def lines(self) -> dict[Seat, Lines]:
        """The numbers of lines of play by their result, by seat."""
        lines: dict[Seat, Lines] = {}
        for seat, followed in self.followed.items():
            if followed.lines is not None:
                lines[seat] = followed.lines
        return lines

    @property
    def exploitability(self) -> float:
        """Gain of a best response, 0 to 1; NaN if the tree is not known."""
        return math.nan if self.details is None else self.details.exploitability

    @property
    def win_rate(self) -> float:
        """Win rate against random, the mean of the graded seats; NaN if one has none.

        A seat's rate is exact over a tree, or if it was searched to the end; else
        sampled.
        """
        return self._mean(0)

    @property
    def draw_rate(self) -> float:
        """Draw rate against random, as `win_rate`."""
        return self._mean(1)

    @property
    def loss_rate(self) -> float:
        """Loss rate against random, as `win_rate`."""
        return self._mean(2)

    def _mean(self, place: int) -> float:
        mean = self.mean_rates()
        return math.nan if mean is None else mean[place]

    @property
    def shortest_loss(self) -> tuple[Seat, tuple[int, ...]] | None:
        """The shortest line that beats the player in a seat that it learned.

        It is the seat and the line's actions; None if no line is known.
        """
        shortest: tuple[Seat, tuple[int, ...]] | None = None
        for seat, grade in self.followed.items():
            line = grade.losing_line
            if seat not in self.seats or line is None:
                continue
            if shortest is None or len(line) < len(shortest[1]):
                shortest = seat, line
        return shortest

    def __repr__(self) -> str:
        return _texts().titled_report(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def by_file_note(grades: Iterable[Grade | None]) -> str:
    """Return the end of a phrase: how many of the grades are by a file; else nothing.

    For instance `, by its file` or `, 60 by its file`.
    """
    by_file = [grade is not None and grade.by_file is True for grade in grades]
    number = "" if all(by_file) else f"{sum(by_file):,} "
    return f", {number}by its file" if any(by_file) else ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair(Rates):
    """The rates of the player who moves first against another player."""

    first: str
    """The player who moves first."""
    second: str
    """The other player."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ranked:
    """A player in the ranking of an arena."""

    player: str
    """Its name."""
    elo: float
    """Rating on Elo's scale; the mean of all players is 0."""
    score: float
    """Mean score against all others: a win counts 1, a draw 0.5."""
