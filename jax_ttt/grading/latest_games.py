"""The training games between two evaluations."""

import dataclasses

from jax_ttt.files.rows import Counts


@dataclasses.dataclass
class LatestGames:
    """Counts of training games up to an evaluation, and what the next one shows."""

    games: int = 0
    wins: int = 0
    losses: int = 0
    best: float = 0.0  # highest share of games won between two evaluations
    epsilon: float = 0.0  # of the last chunk, like `rows`
    rows: int = 0  # rows of a table visited so far

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
