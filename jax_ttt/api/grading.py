"""Grades of a player: exact results, and sampled ones."""

import dataclasses
import math

import jax

from jax_ttt.api import html
from jax_ttt.api.entrant import PlayerLike, player
from jax_ttt.api.proof import check_max_positions
from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.ranges import NUM_GAMES_IF_ANY, SEED_RANGE
from jax_ttt.games import tree as trees
from jax_ttt.grading import player_grades, reached_grades
from jax_ttt.grading.grade import FullGrades, Rate
from jax_ttt.text import reached_text, result_text


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Grade(FullGrades):
    """The grades of a player; rates are from 0 to 1.

    Attributes:
        env_id: The game.
        player: The player's name.
        seats: The seats that the player learned; both if it does not learn.
        verdict: The result in words: that the player is unbeatable, or the shortest
            line that beats it, or, without exact results, the sampled loss rate.
        exact: The exact results over the game's tree; None if the game is too large to
            enumerate or the policy is unknown.
        reached: The exact results by seat, over all positions that the player reaches
            in a game without a tree; None where `prove` refuses the player.
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
        """Whether it is proven unbeatable in its seats; None if that is not decided."""
        return self.is_proven if self.has_verdict else None

    @property
    def win_rate(self) -> float:
        """Win rate against random, the mean of both seats.

        A seat's rate is exact over a tree, or if it was searched to the end; else
        sampled.
        """
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
        rates = self.mean()
        return math.nan if rates is None else rates.rate(name)

    def __repr__(self) -> str:
        learned = result_text.learned_seat(self.env_id, self.seats)
        title = f"{self.player}: {self.env_id}"
        parts = [f"{title}, {learned}" if learned else title]
        tree = trees.host_tree(self.env_id)
        if self.exact is not None and tree is not None:
            parts += [result_text.strength(self.env_id, self.exact), self.verdict]
            parts += [result_text.measures(self.env_id, self.exact, tree)]
        else:
            if self.reached:
                parts += [reached_text.reached_table(self.env_id, self.reached)]
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
    max_positions: int | None = None,
) -> Grade:
    """Return a player's grades against random, minimax and the best response.

    In an enumerable game they are exact. In the other games of stones, all positions
    are searched that a player with one move in each position reaches, as `prove` does:
    this can take minutes. Ctrl-C ends the search with what is known.

    Args:
        who: An agent, a built-in player's name or a function; see `player`.
        env_id: The game; by default the player's, else tic-tac-toe.
        num_games: Games of a sampled match against random, up to 1,048,576; by default
            0 if the rates of both seats are exact, else 1,024.
        seed: The seed of all random numbers.
        max_positions: Most positions in a seat of a search; by default as many as
            memory holds. Beyond them nothing is claimed.

    Raises:
        Refused: the player is unknown in this game; nothing is exact and `num_games` is
            0; or `max_positions` has no effect.

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
    game, entrant = entered.env_id, entered.entrant
    check_max_positions(max_positions, game)
    key, tree = jax.random.key(seed), trees.host_tree(game)
    reached = None
    can_be_searched = tree is None and not reached_grades.why_not(entrant, game)
    if can_be_searched or (tree is None and max_positions is not None):
        reached = reached_grades.grade_by_seat(entrant, game, max_positions)
    grades = player_grades.grade_player(
        game, num_games, entrant, jax.random.fold_in(key, 1), tree, reached
    )
    return Grade(
        **vars(grades),
        env_id=game,
        player=entered.name,
        seats=entrant.seats,
        verdict=result_text.verdict(game, grades, tree, entrant.probs, entrant.seats),
    )
