"""Grades of a player: exact results, and sampled ones."""

import dataclasses
import math

import jax

from jax_ttt.api import html
from jax_ttt.api.entrant import PlayerLike, player
from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.ranges import NUM_GAMES_IF_ANY, SEED_RANGE
from jax_ttt.envs import tree as trees
from jax_ttt.evaluation import player_grades
from jax_ttt.reports import result_text
from jax_ttt.results.grades import FullGrades, Rate


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Grade(FullGrades):
    """The grades of a player; rates are from 0 to 1.

    Attributes:
        env_id: The game.
        player: The player's name.
        seats: The seats that the player learned; both if it does not learn.
        verdict: The result in words: that the player is unbeatable, or the shortest
            line that beats it, or, without exact results, the sampled loss rate.
        exact: The exact results; None if the game is too large to enumerate or the
            policy is unknown.
        sampled: A match against random with 95 % intervals; None if not played.

    Example:
        >>> found = jax_ttt.grade("minimax")
        >>> found.unbeatable, found.loss_rate
        (True, 0.0)
        >>> found.exact.exploitability
        0.0
    """

    env_id: EnvId
    player: str
    seats: tuple[Seat, ...]
    verdict: str

    @property
    def unbeatable(self) -> bool | None:
        """Whether it is proven unbeatable in its seats; None without exact results."""
        return None if self.exact is None else self.exact.unbeatable

    @property
    def win_rate(self) -> float:
        """Win rate against random over both seats; exact if available, else sampled."""
        return self._rate("win_rate")

    @property
    def draw_rate(self) -> float:
        """Draw rate against random, as `win_rate`."""
        return self._rate("draw_rate")

    @property
    def loss_rate(self) -> float:
        """Loss rate against random, as `win_rate`."""
        return self._rate("loss_rate")

    def _rate(self, name: Rate) -> float:
        return math.nan if self.best_known is None else self.best_known.rate(name)

    def __repr__(self) -> str:
        learned = result_text.learned_seat(self.env_id, self.seats)
        title = f"{self.player}: {self.env_id}"
        parts = [f"{title}, {learned}" if learned else title]
        tree = trees.host_tree(self.env_id)
        if self.exact is not None and tree is not None:
            parts += [result_text.strength(self.env_id, self.exact), self.verdict]
            parts += [result_text.measures(self.env_id, self.exact, tree)]
        else:
            parts += [self.verdict]
        if self.sampled is not None:
            parts += [
                result_text.sampled_match_text(self.env_id, self.sampled, self.exact)
            ]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return html.preformatted(repr(self))


def grade(
    who: PlayerLike,
    *,
    env_id: str | None = None,
    num_games: int | None = None,
    seed: int = 0,
) -> Grade:
    """Return a player's grades against random, minimax and the best response.

    Args:
        who: An agent, a built-in player's name or a function; see `player`.
        env_id: The game; by default the player's, else tic-tac-toe.
        num_games: Games of a sampled match against random, up to 1,048,576; by default
            0 if the results are exact, else 1,024.
        seed: The seed of all random numbers.

    Raises:
        Refused: the player is unknown in this game; or nothing is exact and
            `num_games` is 0.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> found = jax_ttt.grade(agent)
        >>> found.unbeatable, found.loss_rate
        (True, 0.0)
        >>> round(found.win_rate, 3)
        0.956
    """
    SEED_RANGE.check("seed", seed)
    if num_games is not None:
        NUM_GAMES_IF_ANY.check("num_games", num_games)
    entered = player(who, env_id=env_id, seed=seed)
    key, tree = jax.random.key(seed), trees.host_tree(entered.env_id)
    found = player_grades.grade_player(
        entered.env_id, num_games, entered.entrant, jax.random.fold_in(key, 1), tree
    )
    probs, seats = entered.entrant.probs, entered.entrant.seats
    verdict = result_text.verdict(entered.env_id, found, tree, probs, seats)
    about = {"env_id": entered.env_id, "player": entered.name, "seats": seats}
    return Grade(**vars(found), **about, verdict=verdict)
