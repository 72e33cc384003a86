"""The record of a published system. Rates: % of wins/draws/losses against random."""

import dataclasses
from typing import NamedTuple

from jax_ttt.config.settings import Config

# Common to all tables: a step removes the same share of each entry's error.
TABLE = Config.of(
    network="table",
    optimizer="sgd",
    loss="mse",
    tau=1.0,
    tremble=0.0,
    backward=True,
)


@dataclasses.dataclass(frozen=True)
class Result:
    """Figures of one system from one source."""

    source: str
    first: str | None  # wins/draws/losses in the first seat
    second: str | None
    unbeatable: str | None  # n of N seeds
    seconds: str | None


class System(NamedTuple):
    """A published learner, and our settings that reproduce it."""

    title: str
    config: Config
    results: tuple[Result, ...]
    why: str  # why our figures differ
    curve: tuple[tuple[int, float], ...] = ()  # published: (games played, wins)
