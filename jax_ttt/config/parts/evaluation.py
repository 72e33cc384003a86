"""Settings of the evaluations during a run."""

import dataclasses
from typing import Annotated

from jax_ttt.config.ranges import MAX_POSITIONS, Part, Range


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluationSettings(Part):
    """When and how the agent is graded while it trains."""

    eval_every: Annotated[int, Range(int, 1, 10**9)] = 100
    """Updates between evaluations. The training depends on it with
    start_share, and with learning_rate_decay below 1."""
    eval_games: Annotated[int | None, Range(int, 0, 2**20, optional=True)] = None
    """Games of the sampled match against random in each evaluation; by
    default 0 in enumerable games, whose results are exact, else 1,024."""
    max_positions: Annotated[int, MAX_POSITIONS] = 2_000_000
    """Most positions to enumerate in each seat at an evaluation, with start_share; past
    them counterexamples come from a sample."""

    def num_games(self, is_exact: bool) -> int:
        """Return the games of an evaluation's match; `is_exact`: it has exact results.

        0 means that no match is played.
        """
        if self.eval_games is not None:
            return self.eval_games
        return 0 if is_exact else 1024
