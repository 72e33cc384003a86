"""What is shown of a live run, as plain data."""

import collections
import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from jax_ttt.live import sliders
from jax_ttt.live.sliders import LEARNING, Learner

if TYPE_CHECKING:
    from jax_ttt.live.live_run import LiveRun, Snapshot

Phase = Literal["idle", "compiling", "running", "finished", "failed"]
Row = dict[str, Any]
Games = list[list[int]]

NOTHING = {
    "update": 0,
    "games": 0,
    "wins": {"x": 0, "o": 0},
    "draws": 0,
    "loss": None,
    "positions_learned": None,
    "unbeatable": None,
    "people_games": 0,
    "proven_at": None,
}
"""What is shown of a run before its first step."""
MOST_GAMES = 100
"""Most finished games that wait to be learned from; the oldest is dropped."""


@dataclasses.dataclass(eq=False)
class Job:
    """A run from its start to a reset; its owner's lock protects its fields."""

    learner: Learner
    number: int  # of all runs; also the seed
    phase: Phase = "compiling"
    paused: bool = False
    begun: bool = False
    error: str | None = None
    figures: dict[str, Any] = dataclasses.field(default_factory=lambda: {**NOTHING})
    scheduled: dict[str, float] = dataclasses.field(default_factory=dict)
    rows: dict[int, Row] = dataclasses.field(default_factory=dict)  # by update
    kept: dict[int, "Snapshot"] = dataclasses.field(default_factory=dict)
    latest: "Snapshot | None" = None
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

    def note(self, run: "LiveRun", snapshot: "Snapshot", row: Row | None) -> None:
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

    def status(self, moved: Mapping[str, float], speed: float) -> dict[str, Any]:
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
        }


def updates_per_second(learner: Learner, speed: float) -> float:
    """Return the most updates a second at which a run is shown."""
    learning = LEARNING[learner]
    return speed * learning.config.run.num_updates / learning.seconds
