"""The training games between two evaluations."""

import dataclasses
from collections.abc import Mapping

from jax_ttt.results.rows import Counts


@dataclasses.dataclass
class LatestGames:
    """Counts of training games up to an evaluation, and what the next one shows."""

    games: int = 0
    wins: int = 0
    losses: int = 0
    best: float = 0.0  # highest share of games won between two evaluations
    epsilon: float = 0.0  # of the last chunk, like `rows`
    rows: int = 0  # rows of a table visited so far

    @classmethod
    def at(cls, position: Mapping[str, object]) -> "LatestGames":
        """Return those at the position where an earlier process left off."""
        kinds = {field.name: type(field.default) for field in dataclasses.fields(cls)}
        known = {n: v for n, v in position.items() if isinstance(v, int | float)}
        return cls(**{n: kinds[n](v) for n, v in known.items() if n in kinds})

    def shares(self, counts: Counts) -> tuple[float, float] | None:
        """Return the shares of wins and losses since the last call; None if no games.

        `counts` are those up to this evaluation.
        """
        played = counts.games - self.games
        wins, losses = counts.wins - self.wins, counts.losses - self.losses
        self.games, self.wins, self.losses = counts.games, counts.wins, counts.losses
        if not played:
            return None
        self.best = max(self.best, wins / played)
        return wins / played, losses / played
