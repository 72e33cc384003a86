"""The grade of a player: how strong it is, and whether it can be beaten.

A grade is one record for every method: exact over a game's tree, exact over all
positions that the player reaches, or sampled in games. Rates are fractions, 0 to 1, of
the player's games against a random opponent unless another one is named.
"""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, SupportsInt, get_args

from jax_ttt.config import shown
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
_ROUNDING = 1e-3
"""How far from 0 to 1 a rate may be: a sum of rounded shares."""


def wilson_interval(successes: int, num_games: int, z: float = 1.96) -> Interval:
    """Return the interval, 95 % by default, of a rate observed in `num_games` games.

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


class Rate(NamedTuple):
    """A rate with its bounds, which are equal where it is exact."""

    value: float
    low: float
    high: float


def _clip_rates(record: "SeatGrade | Details") -> None:
    """Clip the rates of a new record to 0 to 1, which a rounded sum may miss.

    Raises:
        ValueError: a rate misses it by more than rounding does.
    """
    for field in dataclasses.fields(record):
        rate = getattr(record, field.name)
        if field.name.endswith(("_rate", "exploitability")) and rate is not None:
            if not -_ROUNDING <= rate <= 1 + _ROUNDING:
                raise ValueError(f"{field.name} must be from 0 to 1, got {rate}")
            object.__setattr__(record, field.name, min(max(rate, 0.0), 1.0))


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
class SeatGrade:
    """What is known of a player in one seat.

    The win, draw and loss rates add up to 1. Where lines were not followed to their
    ends, these rates and `open_rate` add up to 1. An interval is None where the rate is
    exact.
    """

    win_rate: float
    """Games won."""
    draw_rate: float
    """Games drawn."""
    loss_rate: float
    """Games lost."""
    win_rate_interval: Interval | None = None
    """Bounds of the rate: 95 % where games were sampled, certain where a search ended
    early."""
    draw_rate_interval: Interval | None = None
    """Bounds of the draws, in the same way."""
    loss_rate_interval: Interval | None = None
    """Bounds of the losses, in the same way."""
    num_games: int = 0
    """Sampled games in this seat; 0 where none were."""
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
    evidence: Evidence = "none"
    """How sure the moves are that the results follow from; `none` for sampled games."""
    num_corrections: int | None = dataclasses.field(init=False, default=None)
    """The number of corrections that it plays; None for a player without any."""
    proven: Goal | None = dataclasses.field(init=False, default=None)
    """What is proven, with these corrections: the player never loses, or it wins every
    game; None if neither is."""
    unbeatable: bool | None = dataclasses.field(init=False, default=None)
    """Whether no line of play by any opponent beats the player; None: not known."""

    def __post_init__(self) -> None:
        _clip_rates(self)
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
        intervals = [rate for rate in self.rates if rate.low != rate.high]
        if self.complete and (intervals or self.open_rate):
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

    @property
    def win(self) -> Rate:
        """The rate of games won, with its bounds."""
        return _bounded(self.win_rate, self.win_rate_interval)

    @property
    def draw(self) -> Rate:
        """The rate of games drawn, with its bounds."""
        return _bounded(self.draw_rate, self.draw_rate_interval)

    @property
    def loss(self) -> Rate:
        """The rate of games lost, with its bounds."""
        return _bounded(self.loss_rate, self.loss_rate_interval)

    @property
    def rates(self) -> tuple[Rate, Rate, Rate]:
        """The rates of wins, draws and losses."""
        return self.win, self.draw, self.loss

    @property
    def is_exact(self) -> bool:
        """Whether the rates are exact."""
        return self.win_rate_interval is None

    def interval(self, rate: float) -> Interval:
        """Return the bounds of a rate of this record, for instance its `win_rate`.

        The rate is found by its value. Rates of equal values have equal bounds, since
        the bounds follow from the value.
        """
        return next((low, high) for value, low, high in self.rates if value == rate)

    def reversed(self) -> "SeatGrade":
        """Return the rates of the opponent in the same games."""
        return SeatGrade(
            win_rate=self.loss_rate,
            draw_rate=self.draw_rate,
            loss_rate=self.win_rate,
            win_rate_interval=self.loss_rate_interval,
            draw_rate_interval=self.draw_rate_interval,
            loss_rate_interval=self.win_rate_interval,
            num_games=self.num_games,
            evidence=self.evidence,
        )


def _bounded(value: float, interval: Interval | None) -> Rate:
    low, high = (value, value) if interval is None else interval
    return Rate(value, low, high)


def sampled_seat(counts: Sequence[SupportsInt]) -> SeatGrade:
    """Return the rates of sampled games, with 95 % intervals.

    `counts` are the numbers of games won, drawn and lost. Without games the rates are 0
    and the intervals 0 to 1.
    """
    won, drawn, lost = map(int, counts)
    num_games = won + drawn + lost
    return SeatGrade(
        win_rate=won / max(num_games, 1),
        draw_rate=drawn / max(num_games, 1),
        loss_rate=lost / max(num_games, 1),
        win_rate_interval=wilson_interval(won, num_games),
        draw_rate_interval=wilson_interval(drawn, num_games),
        loss_rate_interval=wilson_interval(lost, num_games),
        num_games=num_games,
    )


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Match(shown.Shown):
    """A player's results against an opponent, by the player's seat.

    Rates are from 0 to 1; if they are exact, the number of games is 0.

    Examples:
        >>> match = jax_ttt.match("minimax", "random")
        >>> match.is_exact, match.first.loss_rate
        (True, 0.0)
        >>> match.first.draw.low == match.first.draw.high
        True
    """

    env_id: EnvId | None = None
    """The game; absent in a part of a grade, as the names."""
    player: str | None = None
    """The player's name."""
    opponent: str | None = None
    """The opponent's name."""
    first: SeatGrade
    """Results when it moves first."""
    second: SeatGrade
    """Results when it moves second."""
    both: SeatGrade = dataclasses.field(init=False)
    """Results of all games; where the seats are exact, their mean."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "both", _both(self.first, self.second))

    @property
    def is_exact(self) -> bool:
        """Whether the rates are exact, not sampled."""
        return self.first.is_exact

    def seat(self, seat: Seat) -> SeatGrade:
        """Return the results in one seat."""
        return self.first if seat == "first" else self.second


def _both(first: SeatGrade, second: SeatGrade) -> SeatGrade:
    if first.num_games or second.num_games:
        counts = [
            round(one.value * first.num_games) + round(other.value * second.num_games)
            for one, other in zip(first.rates, second.rates, strict=True)
        ]
        return sampled_seat(counts)
    return SeatGrade(
        win_rate=(first.win_rate + second.win_rate) / 2,
        draw_rate=(first.draw_rate + second.draw_rate) / 2,
        loss_rate=(first.loss_rate + second.loss_rate) / 2,
        evidence=weakest(first.evidence, second.evidence),
    )


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
        _clip_rates(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExamScore:
    """How often a player's move keeps the value of the position."""

    num_positions: int
    """Positions of the exam."""
    share: float
    """Share of the moves that keep the value, 0 to 1."""
    interval: Interval
    """95 % interval of the share."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exam:
    """A player's scores in an exam."""

    all: ExamScore
    """In all positions."""
    by_kind: dict[str, ExamScore]
    """In the positions of each kind."""
    by_ply: dict[str, ExamScore]
    """By the number of moves made, as text."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Grade(shown.Shown):
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
    """A match against random with 95 % intervals; absent if not played."""
    details: Details | None = None
    """Results against other opponents, exploitability and more, over the tree of an
    enumerable game; absent if the policy is unknown."""
    exam: Exam | None = None
    """Scores in an exam, if one was requested."""
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

        Only such a search counts losing ends.
        """
        return {
            seat: grade
            for seat, grade in self.followed.items()
            if grade.losing_ends is not None
        }

    @property
    def rates(self) -> dict[Seat, SeatGrade]:
        """The best known rates against random, of the seats that have any.

        They are exact where all lines of play were followed, else sampled.
        """
        best: dict[Seat, SeatGrade] = {}
        for seat in SEATS:
            grade = self.seat(seat)
            if grade is not None and grade.is_exact:
                best[seat] = grade
            elif self.sampled is not None:
                best[seat] = self.sampled.seat(seat)
        return best

    def mean_rates(
        self, seats: Sequence[Seat] | None = None
    ) -> tuple[float, float, float] | None:
        """Return the mean win, draw and loss rate of seats; None if one has none.

        By default they are the graded seats, as in `win_rate`.

        If both seats are sampled, the rates are the rates of all games, so that each
        game counts alike: the match may have more games in one seat.
        """
        if seats is None:
            seats = self.seats
        rates = [self.rates[seat] for seat in seats if seat in self.rates]
        if len(rates) < len(seats):
            return None
        are_sampled = not any(rate.is_exact for rate in rates)
        if len(seats) > 1 and self.sampled is not None and are_sampled:
            rates = [self.sampled.both]
        wins = sum(seat.win_rate for seat in rates) / len(rates)
        draws = sum(seat.draw_rate for seat in rates) / len(rates)
        losses = sum(seat.loss_rate for seat in rates) / len(rates)
        return wins, draws, losses

    @property
    def verdict(self) -> str:
        """The result in words.

        Either the player is unbeatable, or there is a shortest line that beats it. If
        neither is proven, the text has the sampled loss rate.
        """
        return shown.verdict_of(self)

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
        rates = self.mean_rates()
        return math.nan if rates is None else rates[place]

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


def by_file_note(grades: Iterable[Grade | None]) -> str:
    """Return the end of a phrase: how many of the grades are by a file; else nothing.

    For instance `, by its file` or `, 60 by its file`.
    """
    by_file = [grade is not None and grade.by_file is True for grade in grades]
    number = "" if all(by_file) else f"{sum(by_file):,} "
    return f", {number}by its file" if any(by_file) else ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ranked:
    """A player in the ranking of an arena."""

    player: str
    """Its name."""
    elo: float
    """Rating on Elo's scale; the mean of all players is 0."""
    score: float
    """Mean score against all others: a win counts 1, a draw 0.5."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """The results of the player who moves first against another player.

    Exact results have 0 games, and both ends of their intervals are the rate itself.
    """

    first: str
    """The player who moves first."""
    second: str
    """The other player."""
    num_games: int
    """Games that were played in these seats."""
    win_rate: float
    """Games won by the player who moves first."""
    win_rate_interval: Interval
    """95 % interval of the win rate."""
    draw_rate: float
    """Games drawn."""
    draw_rate_interval: Interval
    """95 % interval of the draw rate."""
    loss_rate: float
    """Games lost by the player who moves first."""
    loss_rate_interval: Interval
    """95 % interval of the loss rate."""
    evidence: Evidence
    """How sure the moves of both players are; `none` if games were played."""

    @classmethod
    def of(cls, first: str, second: str, grade: SeatGrade) -> "Pair":
        """Return the results of a player who moves first, with both names."""
        return cls(
            first=first,
            second=second,
            num_games=grade.num_games,
            win_rate=grade.win_rate,
            win_rate_interval=(grade.win.low, grade.win.high),
            draw_rate=grade.draw_rate,
            draw_rate_interval=(grade.draw.low, grade.draw.high),
            loss_rate=grade.loss_rate,
            loss_rate_interval=(grade.loss.low, grade.loss.high),
            evidence=grade.evidence,
        )

    @property
    def rates(self) -> tuple[Rate, Rate, Rate]:
        """The rates of wins, draws and losses, with their bounds."""
        return (
            _bounded(self.win_rate, self.win_rate_interval),
            _bounded(self.draw_rate, self.draw_rate_interval),
            _bounded(self.loss_rate, self.loss_rate_interval),
        )

    @property
    def is_exact(self) -> bool:
        """Whether the rates are exact."""
        return not self.num_games
