"""Training that a person watches and changes: one thread, and the state that it shows.

The thread imports JAX once a training starts; this module does not, so that the page
opens at once.
"""

import asyncio
import collections
import contextlib
import dataclasses
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.ranges import check_value
from jax_ttt.config.settings import Config
from jax_ttt.files.json_records import JsonObject
from jax_ttt.runtime import standard_streams
from jax_ttt.web import agent_files, sliders
from jax_ttt.web.agent_files import AgentCollection
from jax_ttt.web.sliders import LEARNERS, LEARNING, LearnerName

if TYPE_CHECKING:
    from jax_ttt.web.live_run import LiveRun

LIVE = "live/"
"""Begin of the id of an agent in training; each run has an id of its own."""
MAX_GAMES = 100
"""Maximum number of finished games that wait for the agent to learn them; the oldest is
dropped."""
END_SECONDS = 1.0
"""Longest time that the end of the server waits for a computation to finish."""

INITIAL_FIGURES: JsonObject = {
    "update": 0,
    "games": 0,
    "wins": {"x": 0, "o": 0},
    "draws": 0,
    "loss": None,
    "positions_learned": None,  # None for a network
    "unbeatable": None,  # by side, after the first evaluation
    "people_games": 0,
    "proven_at": None,
}
"""The figures of a run before its first step."""


class WrongStateError(Refused):
    """A request does not fit the state of the training, but may fit a later one."""


OpenRun: TypeAlias = Callable[[Config, int, Callable[[], bool]], "LiveRun"]
"""A function that opens a run with settings, a seed and a function `stop`.

The command passes it, because it loads JAX.
"""


@dataclasses.dataclass(eq=False)
class RunProgress:
    """A training from its start to its reset; the lock of `Training` protects it."""

    learner: LearnerName
    number: int  # counted from 1 since the server's start; also the seed
    phase: Literal["idle", "compiling", "running", "finished", "failed"] = "compiling"
    paused: bool = False
    is_begun: bool = False
    error: str | None = None
    figures: JsonObject = dataclasses.field(default_factory=INITIAL_FIGURES.copy)
    scheduled: dict[str, float] = dataclasses.field(default_factory=dict)
    rows: list[JsonObject] = dataclasses.field(default_factory=list)
    """The rows of all evaluations; the last one of an update counts."""
    snapshots: dict[int, bytes] = dataclasses.field(default_factory=dict)
    latest: bytes | None = None
    update: int = 0
    games: collections.deque[Sequence[int]] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=MAX_GAMES)
    )

    @property
    def in_training(self) -> bool:
        """Whether it has neither ended nor failed; it may be paused."""
        return self.phase in ("compiling", "running")

    @property
    def shown_phase(self) -> str:
        """Its phase as the page shows it."""
        return "paused" if self.paused else self.phase


class Training:
    """Self-play of one agent in one thread; safe to use from any thread."""

    def __init__(
        self,
        files: AgentCollection,
        open_run: OpenRun,
        speed: float = 1.0,
    ) -> None:
        """Make an idle training; the first start also starts the thread.

        `files` keeps the agent at the end. The thread calls `open_run`. Learners of
        tic-tac-toe train slowly enough to watch; `speed` multiplies their pace, and
        infinity removes the limit.
        """
        self._files, self._open_run, self._speed = files, open_run, speed
        self._changed = threading.Condition()
        self._learner: LearnerName = "network"
        self._moved: dict[LearnerName, dict[str, float]] = {x: {} for x in LEARNERS}
        self._from_people = False
        self._run: RunProgress | None = None
        self._num_runs = 0
        self._thread: threading.Thread | None = None
        self._listeners: list[Callable[[], None]] = []
        self._token = secrets.token_hex(4)
        self.is_closed = False

    def command(self, name: object, learner: object = None) -> None:
        """Start, pause, continue or reset; a start or a reset may name a learner.

        Raises:
            SettingError: there is no such command, or no such learner.
            WrongStateError: the command does not fit the state.
        """
        commands = {
            "start": self._start,
            "pause": self._pause,
            "continue": self._continue,
            "reset": self._reset,
        }
        if not isinstance(name, str) or name not in commands:
            raise SettingError("command", f"one of {', '.join(commands)}", name)
        if learner is not None and learner not in LEARNERS:
            raise SettingError("learner", f"one of {', '.join(LEARNERS)}", learner)
        with self._changed:
            if self.is_closed:
                raise WrongStateError("the server is about to end")
            in_training = self._run is not None and self._run.in_training
            if name == "start" and in_training:
                raise WrongStateError("start: an agent is in training; reset it first")
            if name in ("start", "reset"):
                self._learner = cast("LearnerName", learner or self._learner)
            commands[name]()
            self._notify()

    def _start(self) -> None:
        self._num_runs += 1
        self._run = RunProgress(self._learner, self._num_runs)
        if self._thread is None:
            # A daemon thread, since compiling can't be stopped at the process's end.
            self._thread = threading.Thread(
                target=self._run_thread, name="live training", daemon=True
            )
            self._thread.start()

    def _pause(self) -> None:
        if self._run is None or self._run.paused or not self._run.in_training:
            raise WrongStateError("pause: no agent is in training")
        self._run.paused = True

    def _continue(self) -> None:
        if self._run is None or not self._run.paused:
            raise WrongStateError("continue: no training is paused")
        self._run.paused = False

    def _reset(self) -> None:
        self._moved = {x: {} for x in LEARNERS}
        self._run = None

    def change(self, settings: Mapping[str, object]) -> None:
        """Move sliders, or switch learning from people on or off.

        A slider takes effect at the next chunk of updates; None moves it back to its
        schedule. If one of the settings is wrong, none is changed.

        Raises:
            SettingError: a name is unknown, or a value is outside its range.
        """
        moved = dict(settings)
        from_people = moved.pop("learn_from_people", self._from_people)
        check_value("learn_from_people", bool, from_people)
        with self._changed:
            sliders.check_moved(self._learner, moved)
            self._from_people = bool(from_people)
            for name, value in moved.items():
                self._moved[self._learner].pop(name, None)
                if value is not None:
                    self._moved[self._learner][name] = cast("float", value)
            self._notify()

    def learn(self, moves: Sequence[int]) -> None:
        """Let the agent learn from a finished game, the moves of both players.

        Raises:
            WrongStateError: learning from people is off, or no agent in training can
                learn.
            Refused: a move is illegal, or the game is not over.
        """
        with self._changed:
            run = self._run
            if run is None or run.phase in ("compiling", "failed"):
                raise WrongStateError(
                    "no agent is in training that could learn the game"
                )
            if not self._from_people:
                raise WrongStateError("learning from people is switched off")
            learning = LEARNING[run.learner]
        if not learning.from_people:
            raise WrongStateError(f"{run.learner} does not learn from people")
        from jax_ttt.games.played_game import Game  # of JAX, which the run has loaded

        if not Game.start(learning.config.env_id, moves).is_over:
            raise Refused(f"the game {[*moves]} is not over")
        with self._changed:
            run.games.append(moves)
            self._changed.notify_all()

    def status(self) -> JsonObject:
        """Return the training's state as JSON, without the rows of evaluations.

        `server` names this server process. `run` is 0 without a run, and `agent` is
        None before the run's first step.
        """
        with self._changed:
            run = self._run or RunProgress(self._learner, 0, phase="idle")
            learning, moved = LEARNING[run.learner], self._moved[run.learner]
            return {
                "server": self._token,
                "run": run.number,
                "agent": None if run.latest is None else self._agent_id(run),
                "learner": run.learner,
                "learners": sliders.learners_as_json(),
                "env_id": learning.config.env_id,
                "from_people": learning.from_people,
                "status": run.shown_phase,
                "num_updates": learning.config.num_updates,
                **run.figures,
                "evaluations": len(run.rows),
                "settings": sliders.sliders_as_json(run.learner, moved, run.scheduled),
                "snapshots": sorted(run.snapshots),
                "error": run.error,
                "learn_from_people": self._from_people,
            }

    def status_with_rows(self) -> tuple[JsonObject, list[JsonObject]]:
        """Return the training's state, and the rows of all evaluations so far.

        Rows are only appended, so a reader needs those after the ones that it has.
        """
        with self._changed:
            return self.status(), [] if self._run is None else [*self._run.rows]

    def _agent_id(self, run: RunProgress) -> str:
        return f"{LIVE}{self._token}-{run.number}"

    def agent_entry(self) -> JsonObject | None:
        """Return the agent in training as an entry of the list; None without one."""
        with self._changed:
            run = self._run
            if run is None or run.latest is None:
                return None
            config = LEARNING[run.learner].config
            return {
                "id": self._agent_id(run),
                "name": run.learner,
                "source": "live",
                "env_id": config.env_id,
                "kind": agent_files.agent_kind(config),
                "updates": run.update,
                "snapshots": sorted(run.snapshots),
            }

    def content(self, agent_id: str, update: int | None = None) -> bytes:
        """Return the agent as a file: now, or at the evaluation after `update`.

        Raises:
            KeyError: there is no such agent; the agent of an earlier run is gone.
        """
        with self._changed:
            run = self._run
            agent = None
            if run is not None and agent_id == self._agent_id(run):
                agent = run.latest if update is None else run.snapshots.get(update)
        if agent is None:
            raise KeyError(agent_id)
        return agent

    @contextlib.contextmanager
    def listener(self) -> Iterator[asyncio.Queue[None]]:
        """Yield a queue that gets an item after each change, in the current event loop.

        It holds one item at most, since a reader takes the newest status anyway.
        """
        loop = asyncio.get_running_loop()
        changes: asyncio.Queue[None] = asyncio.Queue(maxsize=1)

        def put() -> None:
            with contextlib.suppress(asyncio.QueueFull):
                changes.put_nowait(None)

        def notify() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(put)

        with self._changed:
            self._listeners.append(notify)
        try:
            yield changes
        finally:
            with self._changed:
                self._listeners.remove(notify)

    def close(self) -> bool:
        """End training and keep the agent; return whether the thread has ended.

        The first call waits `END_SECONDS` for it, later calls do not wait.
        """
        with self._changed:
            seconds = 0.0 if self.is_closed else END_SECONDS
            run, self._run = self._run, None
            self.is_closed = True
            self._notify()
        if run is not None and run.latest is not None and run.update:
            self._keep_agent(run, run.latest)
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _keep_agent(self, run: RunProgress, content: bytes) -> None:
        name = f"{run.learner}-{run.number}-{run.update}"
        try:
            path = self._files.keep(name, content)
            if path is not None:
                standard_streams.print_stderr(f"the agent in training is kept: {path}")
        except OSError as error:
            standard_streams.print_stderr(
                f"warning: the agent in training was not kept: {error}"
            )

    def _notify(self) -> None:
        """Wake the thread and all listeners after a change."""
        self._changed.notify_all()
        for notify in self._listeners:
            notify()

    def _run_thread(self) -> None:
        """Train one agent after another, until the end of the server."""
        while (run := self._next_run()) is not None:
            try:
                self._train(run)
            except Exception as error:
                self._publish_error(run, error)

    def _next_run(self) -> RunProgress | None:
        """Wait for a run that has not begun, and return it; None at the end."""
        with self._changed:
            while not self.is_closed:
                if self._run is not None and not self._run.is_begun:
                    self._run.is_begun = True
                    return self._run
                self._changed.wait()
        return None

    def _train(self, run: RunProgress) -> None:
        live = self._open_run(
            self._current_config(run), run.number, lambda: self._run is not run
        )
        pace, due = LEARNING[run.learner].pace(self._speed), 0.0
        while (games := self._next_task(run, live.is_over, due)) is not None:
            if games:
                live.learn(games, self._current_config(run))
            else:
                begin, before = time.monotonic(), live.update
                live.step(self._current_config(run))
                due = begin + (live.update - before) / pace if pace else 0.0
            with self._changed:
                if self._run is run:
                    self._publish_step(run, live)

    def _publish_step(self, run: RunProgress, live: "LiveRun") -> None:
        """Copy a step's results from the live run, and notify the listeners."""
        run.phase = "finished" if live.is_over else "running"
        run.paused = run.paused and not live.is_over
        run.figures, run.scheduled = live.figures, live.scheduled
        run.latest, run.update = live.agent, live.update
        if live.row is not None:
            run.rows.append(live.row)
            run.snapshots[live.update] = live.agent
        self._notify()

    def _current_config(self, run: RunProgress) -> Config:
        with self._changed:
            return sliders.config_with(run.learner, self._moved[run.learner])

    def _next_task(
        self, run: RunProgress, is_over: bool, due: float
    ) -> list[Sequence[int]] | None:
        """Wait for the next step, or for games of people; return the games.

        An empty list stands for a step, None for the end of the run.
        """
        with self._changed:
            while self._run is run:
                if run.games:
                    games = [*run.games]
                    run.games.clear()
                    return games
                seconds_left = due - time.monotonic()
                waits = run.paused or is_over
                if not waits and seconds_left <= 0:
                    return []
                self._changed.wait(None if waits else seconds_left)
        return None

    def _publish_error(self, run: RunProgress, error: Exception) -> None:
        """Show why a run failed, and print the traceback of an unexpected error."""
        if not isinstance(error, Refused | FloatingPointError):
            traceback.print_exception(error, file=sys.stderr)
        with self._changed:
            run.phase, run.paused = "failed", False
            run.error = str(error) or type(error).__name__
            if self._run is run:
                self._notify()
