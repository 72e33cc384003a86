"""Grades of a player: exact results, and sampled ones."""

import dataclasses
import math

import jax

from jax_ttt.api import html
from jax_ttt.api import player as players
from jax_ttt.api.player import PlayerLike
from jax_ttt.api.prove import check_max_positions
from jax_ttt.config.game_facts import Seat
from jax_ttt.config.ranges import NUM_GAMES_OR_NONE_RANGE, SEED_RANGE
from jax_ttt.grading import grade as grades
from jax_ttt.grading import grader
from jax_ttt.grading.grade import Lines
from jax_ttt.text import grade_text


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class PlayerGrade(grades.Grade):
    """The grade of a player; rates are from 0 to 1.

    Attributes:
        env_id: The game.
        player: The player's name.
        seats: The seats that the player learned; both if it does not learn.
        unbeatable: Whether no line of play by any opponent beats it in these seats;
            None if that is not known.
        first: What is known of the player when it moves first, from the game's tree or
            from all positions that it reaches: `win_rate`, `draw_rate`, `loss_rate`,
            `lines`, `losing_line` and more; None where neither is possible.
        second: The same when it moves second.
        sampled: A match against random with 95 % intervals; None if not played.
        details: Results against other opponents, exploitability and more; None if the
            game is too large to enumerate or the policy is unknown.
        asked_twice: The share of a program's positions that it was asked for twice;
            None for other players.
        exact: The grade itself if the rates of both seats are exact, else None.

    Example:
        >>> grade = jax_ttt.grade("minimax")
        >>> grade.unbeatable, grade.loss_rate
        (True, 0.0)
        >>> grade.first.lines
        Lines(won=27456, drawn=3584, lost=0)
        >>> grade.details.exploitability
        0.0
    """

    player: str

    @classmethod
    def of(cls, grade: grades.Grade, player: str) -> "PlayerGrade":
        """Return the grade of the player of this name as one that notebooks show."""
        values = {
            field.name: getattr(grade, field.name)
            for field in dataclasses.fields(grades.Grade)
            if field.init
        }
        return cls(player=player, **values)

    @property
    def verdict(self) -> str:
        """The result in words.

        Either the player is unbeatable, or there is a shortest line that beats it. If
        neither is proven, the text has the sampled loss rate.
        """
        return grade_text.verdict(self)

    @property
    def exact(self) -> "PlayerGrade | None":
        """The grade itself if the rates of both seats are exact, else None."""
        is_exact = [seat.is_exact for seat in self.followed.values()]
        return self if len(is_exact) == 2 and all(is_exact) else None

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
        """Win rate against random, the mean of both seats.

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

    def __repr__(self) -> str:
        learned = grade_text.learned_seat(self.seats)
        title = f"{self.player}: {self.env_id}"
        title = f"{title}, {learned}" if learned else title
        return f"{title}\n\n{grade_text.full_report(self, self.verdict)}"

    def _repr_html_(self) -> str:
        return html.preformatted(repr(self))


def grade(
    player: PlayerLike,
    *,
    env_id: str | None = None,
    num_games: int | None = None,
    seed: int = 0,
    max_positions: int | None = None,
) -> PlayerGrade:
    """Return a player's grade against random, minimax and the best response.

    In an enumerable game the grade is exact. In the other games of stones, a
    deterministic player is searched as by `prove`, which can take minutes. Ctrl-C ends
    the search; the grade then has what was found so far.

    Args:
        player: An agent, a built-in player's name or a function; see `player`.
        env_id: The game; by default the player's, else tic-tac-toe.
        num_games: Games in each seat of a sampled match against random, up to
            1,048,576; by default 0 if the rates of both seats are exact, else 512.
        seed: The seed of all random numbers.
        max_positions: Most positions that a search visits in a seat; by default as
            many as memory holds. A search that reaches this limit proves nothing.

    Raises:
        Refused: the player is unknown in this game; no rate is exact and `num_games`
            is 0; or `max_positions` has no effect.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> grade = jax_ttt.grade(agent)
        >>> grade.unbeatable, grade.loss_rate
        (True, 0.0)
        >>> round(grade.win_rate, 3)
        0.956
    """
    SEED_RANGE.check("seed", seed)
    if num_games is not None:
        NUM_GAMES_OR_NONE_RANGE.check("num_games", num_games)
    examined = players.player(player, env_id=env_id, seed=seed)
    check_max_positions(max_positions, examined)
    exact_grade = grader.follow_lines(examined, max_positions)
    match_key = jax.random.fold_in(jax.random.key(seed), 1)
    result = grader.with_match(exact_grade, examined, match_key, num_games)
    return PlayerGrade.of(result, examined.name)
