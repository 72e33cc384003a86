"""The records that commands print with `--json`. Imports no JAX."""

import dataclasses
from typing import Literal

from jax_ttt.config.catalogue import Seat
from jax_ttt.files.rows import AgentResult, Counts
from jax_ttt.grading.grade import FullGrades, Grades, Interval, SampledRates

Stopped = Literal["end", "proven", "interrupted"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainResult(Grades, Counts):
    """The output of `train --json`: how the run ended, and its last grades."""

    preset: str
    seed: int
    run_dir: str
    agent: str  # path of its file
    stopped: Stopped  # why the run ended
    verdict: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluateResult(FullGrades):
    """The output of `evaluate --json`."""

    agent: str  # as given on the command line
    env_id: str
    seed: int | None = None  # of a saved agent, like the next two
    update: int | None = None  # updates done
    config: dict[str, object] | None = None  # its settings
    verdict: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spread:
    """Mean and range of a figure over many agents."""

    mean: float
    min: float
    max: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupResult:
    """Results of agents with the same settings.

    `proven`, `interval` and `not_proven` are None where no proof is possible.
    """

    settings: dict[str, object]  # one combination of the grid; empty without a grid
    num_agents: int
    proven: int | None = None  # number of agents that are proven unbeatable
    interval: Interval | None = None  # 95 % interval of the rate of proven agents
    not_proven: tuple[int, ...] | None = None  # seeds of the other agents
    diverged: tuple[int, ...]  # seeds of the agents that diverged
    win_rates: dict[Seat, Spread]  # against random, by learned seat
    seconds: float  # median training time of one agent
    agents: tuple[AgentResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepResult:
    """The output of `sweep --json`."""

    device: str
    preset: str
    first_seed: int
    file: str  # in which the agents are kept
    seconds: float  # of the whole command
    groups: tuple[GroupResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair(SampledRates):
    """Results of a match between two players; the rates are those of `first`."""

    first: str  # the player who moves first
    second: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ranked:
    """One player of the ranking."""

    player: str
    elo: float  # the mean of all players is 0
    score: float  # mean score against all others: a win counts 1, a draw 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArenaResult:
    """The output of `arena --json`."""

    env_id: str
    seed: int
    pairs: tuple[Pair, ...]
    ranking: tuple[Ranked, ...]  # strongest player first
    learned_seats: dict[str, tuple[Seat, ...]]  # by player


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A saved run: its settings' names, and its last evaluation."""

    run_dir: str
    env_id: str
    preset: str
    seed: int
    saved: bool  # it has an agent's file
    update: int | None = None  # of the last evaluation, like all below
    seconds: float | None = None
    proven: bool | None = None  # unbeatable; None where no proof is possible
    win_rate: float | None = None  # against random, mean of the learned seats


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunsResult:
    """What `runs --json` prints."""

    runs: tuple[RunSummary, ...]  # the newest last
