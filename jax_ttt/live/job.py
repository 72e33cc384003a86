"""What is shown of a live run, as plain data."""

import collections
import dataclasses
import math
from collections.abc import Mapping
from typing import Literal

from jax_ttt.live import sliders
from jax_ttt.live.live_run import NOTHING, Figures, HistoryRow, LiveRun, Snapshot
from jax_ttt.live.sliders import LEARNING, LearnerKind

Phase = Literal["idle", "compiling", "running", "finished", "failed"]
Games = list[list[int]]

MOST_GAMES = 100
"""Most finished games that wait to be learned from; the oldest is dropped."""


class Status(Figures):
    """What is shown of live training, without the rows of its evaluations."""

    update: int  # here too: pyright takes an inherited one for the method of dict
    run: int
    seed: int
    learner: LearnerKind
    status: Phase | Literal["paused"]
    num_updates: int
    pace: float | None  # updates a second; None without a limit
    settings: dict[str, dict[str, float | bool]]
    snapshots: list[int]
    error: str | None
    learn_from_people: bool


class FullStatus(Status):
    """Everything that is shown of live training."""

    update: int
    history: list[HistoryRow]


class Message(Status):
    """What a reader gets after a change."""

    update: int
    rows: list[HistoryRow]  # the new ones


@dataclasses.dataclass(eq=False)
class Job:
    """A run from its start to a reset; its owner's lock protects its fields."""

    learner: LearnerKind
    number: int  # of all runs; also the seed
    phase: Phase = "compiling"
    paused: bool = False
    begun: bool = False
    error: str | None = None
    figures: Figures = dataclasses.field(default_factory=NOTHING.copy)
    scheduled: dict[str, float] = dataclasses.field(default_factory=dict)
    rows: dict[int, HistoryRow] = dataclasses.field(default_factory=dict)  # by update
    kept: dict[int, Snapshot] = dataclasses.field(default_factory=dict)
    latest: Snapshot | None = None
    games: collections.deque[list[int]] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=MOST_GAMES)
    )

    @property
    def in_training(self) -> bool:
        """Whether it has neither ended nor failed; it may be paused."""
        return self.phase in ("compiling", "running")

    @property
    def update(self) -> int:
        """Updates done."""
        return self.figures["update"]

    def note(self, run: LiveRun, snapshot: Snapshot, row: HistoryRow | None) -> None:
        """Take over what is shown after a step."""
        self.phase = "finished" if run.is_over else "running"
        self.figures, self.scheduled = run.figures, run.scheduled
        self.latest = snapshot
        if row is not None:
            self.rows[snapshot.update] = row
            self.kept[snapshot.update] = snapshot

    def taken_games(self) -> Games:
        """Return the games that wait, once the run has begun, and forget them."""
        if self.phase == "compiling":
            return []
        games = [*self.games]
        self.games.clear()
        return games

    def status(
        self, moved: Mapping[str, float], speed: float, learn_from_people: bool
    ) -> Status:
        """Return what is shown, without the rows; `moved` are the learner's sliders."""
        pace = updates_per_second(self.learner, speed)
        return {
            "run": self.number,
            "seed": self.number,
            "learner": self.learner,
            "status": "paused" if self.paused else self.phase,
            "num_updates": LEARNING[self.learner].config.run.num_updates,
            "pace": pace if math.isfinite(pace) else None,
            **self.figures,
            "settings": sliders.shown(self.learner, moved, self.scheduled),
            "snapshots": sorted(self.kept),
            "error": self.error,
            "learn_from_people": learn_from_people,
        }


def updates_per_second(learner: LearnerKind, speed: float) -> float:
    """Return the most updates a second at which a run is shown."""
    learning = LEARNING[learner]
    return speed * learning.config.run.num_updates / learning.seconds
