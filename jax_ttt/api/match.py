"""A match of two players."""

import dataclasses

import jax

from jax_ttt.api import html
from jax_ttt.api.player import PlayerLike, distinct_players
from jax_ttt.config.game_facts import SEATS, EnvId
from jax_ttt.config.ranges import NUM_GAMES_RANGE, SEED_RANGE
from jax_ttt.games import tree as trees
from jax_ttt.grading import grade, program_match, tree_grade
from jax_ttt.grading.grade import SeatGrade
from jax_ttt.players.player import Player
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import outcomes
from jax_ttt.text import grade_text
from jax_ttt.text.tables import aligned_lines

_HEAD = ["", "wins", "draws", "losses"]


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class MatchResult(grade.Match):
    """The results of a player against an opponent, in each seat.

    Attributes:
        env_id: The game.
        player: The player's name.
        opponent: The opponent's name.
        first: The player's results when it moves first: `win_rate`, `draw_rate` and
            `loss_rate` from 0 to 1, `num_games`, which is 0 if the rates are exact, and
            `win`, `draw` and `loss`, the rates with their bounds.
        second: The player's results when it moves second.
        both: The results of both seats together.

    Example:
        >>> match = jax_ttt.match("minimax", "random")
        >>> match.is_exact, match.first.loss_rate
        (True, 0.0)
        >>> match.first.draw.low == match.first.draw.high
        True
    """

    env_id: EnvId
    player: str
    opponent: str

    def _rows(self) -> list[list[str]]:
        rows = []
        for seat in SEATS:
            cells = []
            for rate, low, high in self.seat(seat).rates:
                interval = f" ({100 * low:.1f} to {100 * high:.1f})"
                cells.append(f"{rate:.2%}{'' if self.is_exact else interval}")
            rows.append([grade_text.seat_phrase(seat), *cells])
        return rows

    def _title(self) -> str:
        games = count_phrase(self.first.num_games, "game")
        sampled = f"{games} in each seat, with 95% intervals"
        method = "exact" if self.is_exact else sampled
        return f"{self.player} against {self.opponent}: {method}"

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned_lines([_HEAD, *self._rows()])])

    def _repr_html_(self) -> str:
        return html.html_table(self._title(), self._rows(), _HEAD)


def match(
    player: PlayerLike,
    opponent: PlayerLike,
    *,
    env_id: str | None = None,
    num_games: int = 1000,
    seed: int = 0,
) -> MatchResult:
    """Return a player's results against an opponent, in both seats.

    They are exact if the game is enumerable and both policies are known, else sampled.

    Args:
        player: The player whose results are returned; see `player`.
        opponent: The other player.
        env_id: The game; by default the players', else tic-tac-toe.
        num_games: Games in each seat of a sampled match, 1 to 1,048,576.
        seed: The seed of all random numbers.

    Raises:
        Refused: a player is unknown, or the two are made for different games.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.match(agent, "minimax")
        agent of seed 1 against minimax: exact
               wins    draws  losses
        as X  0.00%  100.00%   0.00%
        as O  0.00%  100.00%   0.00%
    """
    NUM_GAMES_RANGE.check("num_games", num_games)
    SEED_RANGE.check("seed", seed)
    player_key, match_key = jax.random.split(jax.random.key(seed))
    game, (one, other) = distinct_players([player, opponent], env_id, player_key)
    keys = jax.random.split(match_key)
    # The opponent's wins are the player's losses.
    return MatchResult(
        env_id=game,
        player=one.name,
        opponent=other.name,
        first=_result(game, keys[0], first=one, second=other, num_games=num_games),
        second=_result(
            game, keys[1], first=other, second=one, num_games=num_games
        ).reversed(),
    )


def _result(
    env_id: EnvId, key: jax.Array, first: Player, second: Player, num_games: int
) -> SeatGrade:
    """Return the results of `first`, which moves first."""
    if first.policy is not None and second.policy is not None:
        tree = trees.enumerated(env_id)
        return tree_grade.exact_rates(
            outcomes.outcome(tree, first.policy, second.policy)
        )
    return program_match.sample_pair(first, second, key, num_games)
