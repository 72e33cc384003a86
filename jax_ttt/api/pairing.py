"""A match of two players."""

import dataclasses
from typing import NamedTuple

import jax

from jax_ttt.api import html
from jax_ttt.api.entrant import PlayerLike, entrants
from jax_ttt.config.catalogue import SEATS, Seat, seat_name
from jax_ttt.config.ranges import NUM_GAMES, SEED_RANGE
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.grading import matches
from jax_ttt.grading.statistics import wilson_interval
from jax_ttt.players.registry import Entrant
from jax_ttt.runtime.words import counted
from jax_ttt.solver import outcomes
from jax_ttt.text.tables import aligned


class SeatResult(NamedTuple):
    """The results of a player in one seat; rates are from 0 to 1.

    Attributes:
        win_rate: Share of games that the player won.
        draw_rate: Share of games that ended in a draw.
        loss_rate: Share of games that the player lost.
        num_games: Games played; 0 if the rates are exact.

    Example:
        >>> result = jax_ttt.match("minimax-first", "minimax").first
        >>> result
        SeatResult(win_rate=0.0, draw_rate=1.0, loss_rate=0.0, num_games=0)
        >>> result.interval(result.draw_rate)
        (1.0, 1.0)
    """

    win_rate: float
    draw_rate: float
    loss_rate: float
    num_games: int = 0

    def reversed(self) -> "SeatResult":
        """Return the results of the opponent in the same games."""
        return self._replace(win_rate=self.loss_rate, loss_rate=self.win_rate)

    def interval(self, rate: float) -> tuple[float, float]:
        """Return the 95 % interval of a rate; both ends are the rate if exact."""
        if not self.num_games:
            return rate, rate
        low, high = wilson_interval(round(rate * self.num_games), self.num_games)
        return low, high


@dataclasses.dataclass(frozen=True, repr=False)
class Match:
    """The results of a player against an opponent, in each seat.

    Attributes:
        env_id: The game.
        player: The player's name.
        opponent: The opponent's name.
        first: The player's results when it moves first.
        second: The player's results when it moves second.

    Example:
        >>> match = jax_ttt.match("minimax", "random")
        >>> match.is_exact, match.first.loss_rate
        (True, 0.0)
    """

    env_id: str
    player: str
    opponent: str
    first: SeatResult
    second: SeatResult

    @property
    def is_exact(self) -> bool:
        """Whether the rates are exact, not sampled."""
        return not self.first.num_games

    def seat(self, seat: Seat) -> SeatResult:
        """Return the results in one seat."""
        return self.first if seat == "first" else self.second

    def _rows(self) -> list[list[str]]:
        rows = []
        for seat in SEATS:
            result = self.seat(seat)
            cells = []
            for rate in result[:3]:
                low, high = (f"{100 * end:.1f}" for end in result.interval(rate))
                span = "" if self.is_exact else f" ({low} to {high})"
                cells.append(f"{rate:.2%}{span}")
            rows.append([f"as {seat_name(self.env_id, seat)}", *cells])
        return rows

    def _title(self) -> str:
        games = 2 * self.first.num_games
        played = f"{counted(games, 'game')}, with 95 % intervals"
        how = "exact" if self.is_exact else played
        return f"{self.player} against {self.opponent}: {how}"

    def __repr__(self) -> str:
        rows = [["", "wins", "draws", "losses"], *self._rows()]
        return "\n".join([self._title(), *aligned(rows)])

    def _repr_html_(self) -> str:
        return html.table_of(
            self._title(), self._rows(), ["", "wins", "draws", "losses"]
        )


def match(
    player: PlayerLike,
    opponent: PlayerLike,
    *,
    env_id: str | None = None,
    num_games: int = 1000,
    seed: int = 0,
) -> Match:
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
    NUM_GAMES.check("num_games", num_games)
    SEED_RANGE.check("seed", seed)
    player_key, match_key = jax.random.split(jax.random.key(seed))
    game, (one, other) = entrants([player, opponent], env_id, player_key)
    keys = jax.random.split(match_key)
    first = _result(game, keys[0], (one, other), num_games)
    # The opponent's wins are the player's losses.
    second = _result(game, keys[1], (other, one), num_games)
    return Match(game, one.name, other.name, first, second.reversed())


def _result(
    env_id: str, key: jax.Array, pair: tuple[Entrant, Entrant], num_games: int
) -> SeatResult:
    """Return the results of the first of two players, which moves first."""
    first, second = pair
    if first.probs is not None and second.probs is not None:
        exact = outcomes.outcome(trees.enumerated(env_id), first.probs, second.probs)
        wins, draws, losses = (max(float(rate), 0.0) for rate in exact)
        return SeatResult(wins, draws, losses)
    env = pgx_games.make_env(env_id)
    found, _ = matches.play_seats(env, key, first.player, second.player, num_games)
    wins, draws, losses = (int(count) / num_games for count in found)
    return SeatResult(wins, draws, losses, num_games)
