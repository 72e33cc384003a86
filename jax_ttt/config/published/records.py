"""The record of a published system. Rates are in %, wins/ties/losses against random."""

import dataclasses
from typing import NamedTuple

from jax_ttt.config.settings import Config

# What every table has in common: a step takes the same share of each entry's error.
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
    """Somebody's figures of one system."""

    source: str
    first: str | None  # in this seat: wins/ties/losses
    second: str | None
    unbeatable: str | None  # n of N seeds
    seconds: str | None


class System(NamedTuple):
    """A published learner, as it is reproduced here."""

    title: str
    config: Config
    results: tuple[Result, ...]
    why: str  # our figures are not theirs
    curve: tuple[tuple[int, float], ...] = ()  # theirs: (games played, wins)
