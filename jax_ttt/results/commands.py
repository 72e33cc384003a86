"""What the commands print with `--json`, a record for each. Imports no JAX."""

import dataclasses
from typing import Literal

from jax_ttt.config.catalogue import Seat
from jax_ttt.config.published.records import Result
from jax_ttt.results.grades import FullGrades, Grades, Interval, SampledRates
from jax_ttt.results.rows import AgentResult, Counts

Stopped = Literal["end", "proven", "interrupted"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainResult(Grades, Counts):
    """What `train --json` prints: the run's end, and its last grades."""

    preset: str
    seed: int
    run_dir: str
    agent: str  # the file
    stopped: Stopped  # by what
    verdict: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluateResult(FullGrades):
    """What `evaluate --json` prints."""

    agent: str  # as it was named
    env_id: str
    seed: int | None = None  # of a saved agent, like the next two
    update: int | None = None  # updates that it has learned from
    config: dict[str, object] | None = None  # its settings
    verdict: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spread:
    """A figure of many agents."""

    mean: float
    min: float
    max: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupResult:
    """What came of agents with the same settings.

    `proven`, `interval` and `not_proven` are None where no proof is possible.
    """

    settings: dict[str, object]  # the combination of a grid; empty without one
    num_agents: int
    proven: int | None = None  # agents that are proven unbeatable
    interval: Interval | None = None  # 95 %, of the rate of these
    not_proven: tuple[int, ...] | None = None  # seeds of the others
    diverged: tuple[int, ...]  # seeds
    win_rates: dict[Seat, Spread]  # against random, by the seats that are learned
    seconds: float  # training one agent, median
    agents: tuple[AgentResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepResult:
    """What `sweep --json` prints."""

    device: str
    preset: str
    first_seed: int
    seconds: float  # of the whole command
    groups: tuple[GroupResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair(SampledRates):
    """Two players' results, those of the one who moves first."""

    first: str  # who moves first
    second: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ranked:
    """A player's place among all."""

    player: str
    elo: float  # the mean of all players is 0
    score: float  # mean against all others: a win is 1, a draw 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArenaResult:
    """What `arena --json` prints."""

    env_id: str
    seed: int
    pairs: tuple[Pair, ...]
    ranking: tuple[Ranked, ...]  # the strongest first
    learned_seats: dict[str, tuple[Seat, ...]]  # by player


@dataclasses.dataclass(frozen=True, kw_only=True)
class SystemResult:
    """A published system: the figures of its authors, and those of our agents."""

    title: str
    published: tuple[Result, ...]
    reproduced: Result
    why: str  # our figures differ
    agents: tuple[AgentResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PublishedResult:
    """What `published --json` prints."""

    device: str
    first_seed: int
    systems: dict[str, SystemResult]  # by preset
