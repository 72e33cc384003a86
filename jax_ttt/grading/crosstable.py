"""Round-robin results in both seats, exact where possible and sampled elsewhere.

Axes: `N` entrants, rows as first player and columns as second.
"""

import dataclasses
from collections.abc import Callable, Iterable

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jax_ttt.config.catalogue import EnvId
from jax_ttt.files.outputs import Pair, Ranked
from jax_ttt.games import pgx_games, positions
from jax_ttt.games import tree as trees
from jax_ttt.grading import matches, statistics
from jax_ttt.grading.grade import with_intervals
from jax_ttt.players import players
from jax_ttt.players.registry import Entrant
from jax_ttt.solver import outcomes


@dataclasses.dataclass(frozen=True)
class CrossTable:
    """The results of each row's player, who moves first, against each column's."""

    names: tuple[str, ...]
    rates: np.ndarray  # (N, N, 3) float64: won, drawn and lost, with the sum 1
    counts: np.ndarray  # (N, N, 3) int64: games of a sampled pair; 0 if exact

    @property
    def sampled(self) -> Bool[np.ndarray, "N N"]:
        """Whether each pair is sampled, not exact."""
        return self.counts.sum(axis=-1) > 0

    @property
    def scores(self) -> Float[np.ndarray, "N N"]:
        """The row player's mean score against the column player, over both seats.

        A win counts 1, a draw 0.5.
        """
        moving_first = self.rates @ [1, 0.5, 0]
        return (moving_first + 1 - moving_first.T) / 2

    @property
    def order(self) -> list[tuple[int, float, float]]:
        """The entrants' indices, ratings and mean scores, the strongest first.

        The score is against all others; it is 0.5 if there are none.
        """
        size = len(self.names)
        others = ~np.eye(size, dtype=bool)
        score = np.where(others, self.scores, 0).sum(axis=1) / max(size - 1, 1)
        score = score if size > 1 else np.array([0.5])
        rating = statistics.ratings(self.scores)
        ranked = np.argsort(-rating, kind="stable")
        return [(int(i), float(rating[i]), float(score[i])) for i in ranked]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """One record per pair.

        For an exact pair, `num_games` is 0 and the ends of an interval are the rate.
        """
        return tuple(self._pair(*place) for place in np.ndindex(self.sampled.shape))

    def _pair(self, row: int, column: int) -> Pair:
        num_games = int(self.counts[row, column].sum())
        rates = self.rates[row, column].tolist()
        intervals = list(zip(*self.interval(row, column), strict=True))
        found = with_intervals(num_games, rates, intervals)
        return Pair(first=self.names[row], second=self.names[column], **vars(found))

    @property
    def ranking(self) -> tuple[Ranked, ...]:
        """One record per entrant, the strongest first."""
        return tuple(
            Ranked(player=self.names[i], elo=rating, score=score)
            for i, rating, score in self.order
        )

    def interval(self, row: int, column: int) -> tuple[list[float], list[float]]:
        """Return the ends of a pair's 95 % intervals; both are the rates if exact."""
        games = self.counts[row, column]
        if not games.any():
            return self.rates[row, column].tolist(), self.rates[row, column].tolist()
        ends = [statistics.wilson_interval(int(n), int(games.sum())) for n in games]
        return [low for low, _ in ends], [high for _, high in ends]


Watch = Callable[[list[tuple[int, int]]], Iterable[tuple[int, int]]]
"""Takes the pairs to sample and yields them one by one, e.g. with a progress bar."""


def round_robin(
    entrants: list[Entrant],
    env_id: EnvId,
    key: Key[Array, ""],
    num_games: int,
    watch: Watch = iter,
) -> CrossTable:
    """Return the results of all pairs of entrants.

    A pair is exact if both policies are known, else sampled with `num_games` games.
    `key` is consumed.
    """
    size = len(entrants)
    known = [i for i, entrant in enumerate(entrants) if entrant.probs is not None]
    rates = np.zeros((size, size, 3))
    counts = np.zeros((size, size, 3), int)
    if known:
        probs = np.stack([e.probs for e in entrants if e.probs is not None])
        table = outcomes.pairwise_outcomes(trees.enumerated(env_id), probs, probs)
        rates[np.ix_(known, known)] = np.stack(table, axis=-1)
    # All known policies share one compiled match.
    all_players = [
        entrant.player
        if entrant.probs is None
        else players.policy_player(positions.index(env_id), entrant.probs)
        for entrant in entrants
    ]
    pairs = [p for p in np.ndindex(size, size) if not set(p) <= set(known)]
    for row, column in watch(pairs):
        match_key = jax.random.fold_in(key, row * size + column)
        counts[row, column], _ = matches.play_seats(
            env=pgx_games.make_env(env_id),
            key=match_key,
            first=all_players[row],
            second=all_players[column],
            num_games=num_games,
        )
        rates[row, column] = counts[row, column] / num_games
    return CrossTable(tuple(e.name for e in entrants), rates, counts)
