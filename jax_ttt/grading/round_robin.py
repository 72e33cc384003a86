"""Round-robin results in both seats, exact where possible and sampled elsewhere.

Axes: `N` players, rows as first player and columns as second.
"""

import dataclasses
from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from jax_ttt.config.game_facts import EnvId, Seat
from jax_ttt.config.grade import Pair, Ranked, SeatGrade, weakest
from jax_ttt.config.shown import Shown
from jax_ttt.files import picture_file
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games import tree as trees
from jax_ttt.grading import sampled_match
from jax_ttt.grading.tree_grade import exact_rates
from jax_ttt.players import asked_players, random_players
from jax_ttt.players.player import Player
from jax_ttt.solver import outcomes
from jax_ttt.solver.outcomes import Outcome


@dataclasses.dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class CrossTable(Shown):
    """The results of all pairs of players; a notebook shows them as a table.

    Its fields are what `arena --json` prints.

    Attributes:
        rates: `(N, N, 3)`: the win, draw and loss rates of the row's player, which
            moves first, against the column's.
        counts: `(N, N, 3)`: the same as numbers of games; 0 if the rates are exact.

    Examples:
        >>> table = jax_ttt.cross_table(["random", "minimax", "minimax-first"])
        >>> table.ranking[-1].player
        'random'
        >>> table.rates.shape
        (3, 3, 3)
    """

    env_id: str
    """The game."""
    names: tuple[str, ...]
    """The players, in the order of the rows and columns."""
    pairs: tuple[Pair, ...]
    """Every player against every player, in both seats, row by row."""
    ranking: tuple[Ranked, ...] = dataclasses.field(init=False)
    """The players, the strongest first: their ratings, with the mean 0, and their
    scores against all others; a win counts 1, a draw 0.5."""
    learned_seats: dict[str, tuple[Seat, ...]] = dataclasses.field(default_factory=dict)
    """The seats that each player learned; both for players that do not learn."""
    notes: dict[str, str] = dataclasses.field(default_factory=dict)
    """Why a program's results are sampled, by its name."""

    def __post_init__(self) -> None:
        size = len(self.names)
        others = ~np.eye(size, dtype=bool)
        score = np.where(others, self.scores, 0).sum(axis=1) / max(size - 1, 1)
        score = score if size > 1 else np.array([0.5])
        elo = ratings(self.scores)
        ranking = tuple(
            Ranked(player=self.names[i], elo=float(elo[i]), score=float(score[i]))
            for i in np.argsort(-elo, kind="stable")
        )
        object.__setattr__(self, "ranking", ranking)

    @property
    def rows(self) -> list[tuple[Pair, ...]]:
        """The pairs of each player who moves first."""
        size = len(self.names)
        return [self.pairs[i * size :][:size] for i in range(size)]

    @property
    def rates(self) -> Float[np.ndarray, "N N 3"]:
        """The rates of the row's wins, draws and losses."""
        return np.array(
            [[[rate.value for rate in pair.rates] for pair in row] for row in self.rows]
        )

    @property
    def sampled(self) -> Bool[np.ndarray, "N N"]:
        """Whether each pair is sampled, not exact."""
        return np.array([[not pair.is_exact for pair in row] for row in self.rows])

    @property
    def counts(self) -> Int[np.ndarray, "N N 3"]:
        """The row's wins, draws and losses in games; 0 where the pair is exact."""
        games = np.array([[pair.num_games for pair in row] for row in self.rows])
        return np.rint(self.rates * games[..., None]).astype(int)

    @property
    def scores(self) -> Float[np.ndarray, "N N"]:
        """The row player's mean score against the column player, over both seats.

        A win counts 1, a draw 0.5.
        """
        moving_first = self.rates @ [1, 0.5, 0]
        return (moving_first + 1 - moving_first.T) / 2

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw a heat map of the first player's mean score."""
        return picture_file.picture_of(self, theme)


def ratings(scores: Float[np.ndarray, "N N"]) -> Float[np.ndarray, " N"]:
    """Return maximum-likelihood ratings on the Elo scale, with the mean 0.

    A difference of 400 points means odds of 10 to 1. Each score is mixed with 1 % of a
    draw; otherwise a player that always wins would have an infinite rating. Sources:
    Elo 1978, "The rating of chessplayers"; Bradley and Terry 1952; the iteration is
    Hunter 2004, "MM algorithms for generalized Bradley-Terry models".
    """
    if len(scores) < 2:
        return np.zeros(len(scores))
    others = ~np.eye(len(scores), dtype=bool)
    won = np.where(others, 0.99 * scores + 0.005, 0).sum(axis=1)
    strength = np.ones(len(scores))
    for _ in range(10_000):
        pairs = others / (strength[:, None] + strength)
        new = won / pairs.sum(axis=1)
        new /= np.exp(np.log(new).mean())
        if np.allclose(new, strength, rtol=1e-9, atol=0):
            break
        strength = new
    return 400 * np.log10(strength)


def play_round_robin(
    players: list[Player],
    env_id: EnvId,
    key: Key[Array, ""],
    num_games: int,
    say: Callable[[str], None] = lambda text: None,
) -> CrossTable:
    """Return the results of all pairs of players; `say` shows the progress.

    A pair of a first and a second player is one seating. It is exact if both policies
    are known, else sampled with `num_games` games. `key` is consumed.
    """
    size = len(players)
    policy_of = {
        place: player.policy
        for place, player in enumerate(players)
        if player.policy is not None
    }
    pairs: dict[tuple[int, int], SeatGrade] = {}
    if policy_of:
        probs = np.stack([*policy_of.values()])
        table = outcomes.pairwise_outcomes(trees.enumerated(env_id), probs, probs)
        for row, first in enumerate(policy_of):
            for column, second in enumerate(policy_of):
                outcome = Outcome(*(rates[row, column] for rates in table))
                evidence = weakest(players[first].evidence, players[second].evidence)
                pairs[first, second] = exact_rates(outcome, evidence)
    # As policies, all players with a known policy share one compiled match.
    sampled_players = [
        player
        if player.policy is None
        else dataclasses.replace(
            player,
            choose=random_players.policy_player(
                trees.position_index(env_id), player.policy
            ),
        )
        for player in players
    ]
    to_sample = [place for place in np.ndindex(size, size) if place not in pairs]
    for number, (row, column) in enumerate(to_sample, start=1):
        say(f"playing pair {number:,} of {len(to_sample):,} that are sampled")
        pair_key = jax.random.fold_in(key, row * size + column)
        pairs[row, column] = sampled_match.sample_pair(
            first=sampled_players[row],
            second=sampled_players[column],
            key=pair_key,
            num_games=num_games,
        )
    reasons = {p.name: asked_players.reason_not_exact(p) for p in players}
    return CrossTable(
        env_id=env_id,
        names=tuple(player.name for player in players),
        pairs=tuple(
            Pair.of(players[row].name, players[column].name, pairs[row, column])
            for row, column in np.ndindex(size, size)
        ),
        learned_seats={player.name: player.seats for player in players},
        notes={name: reason for name, reason in reasons.items() if reason},
    )
