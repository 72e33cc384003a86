"""Training that can be watched and changed: one thread, commands and what they show."""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import cast

from jax_ttt.config.errors import SettingError, UsageError
from jax_ttt.config.ranges import check
from jax_ttt.config.settings import Config
from jax_ttt.live import live_run, sliders
from jax_ttt.live.job import FullStatus, Games, Job, Status, updates_per_second
from jax_ttt.live.live_run import HistoryRow, LiveRun, Snapshot
from jax_ttt.live.mailbox import Mailbox
from jax_ttt.live.sliders import LEARNERS, LEARNING, LearnerKind
from jax_ttt.players.agents import Agent


class LiveTraining:
    """Self-play of a table or a network in one thread; safe to use from any thread.

    The process goes on until `close` is called, once a training was started.

    `speed` multiplies the pace: a run is shown in about 10 or 20 seconds at 1, and
    as fast as it computes at infinity.
    """

    def __init__(self, speed: float = 1.0) -> None:
        """Make it idle; the thread begins with the first start."""
        self._speed = speed
        self._changed = threading.Condition()
        self._learner: LearnerKind = "network"
        self._moved: dict[LearnerKind, dict[str, float]] = {x: {} for x in LEARNERS}
        self._from_people = False
        self._job: Job | None = None
        self._num_runs = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._mailboxes: list[Mailbox] = []

    def command(self, name: str, learner: str | None = None) -> None:
        """Start, pause, continue or reset; `learner` is for a start or a reset.

        Raises:
            SettingError: there is no such command, or no such learner.
            UsageError: the command does not fit the state.
        """
        known = {
            "start": self._start,
            "pause": self._pause,
            "continue": self._go_on,
            "reset": self._reset,
        }
        if name not in known:
            raise SettingError("command", f"one of {', '.join(known)}", name)
        if learner is not None and learner not in LEARNERS:
            raise SettingError("learner", f"one of {', '.join(LEARNERS)}", learner)
        with self._changed:
            if self._closed:
                raise UsageError("the server is about to end")
            known[name](cast("LearnerKind | None", learner))
            self._tell()
            self._changed.notify_all()

    def _start(self, learner: LearnerKind | None) -> None:
        job = self._job
        if job is not None and job.in_training:
            raise UsageError("start: an agent is in training already; reset it first")
        self._learner = learner or self._learner
        self._num_runs += 1
        self._job = Job(self._learner, self._num_runs)
        if self._thread is None:
            # Not a daemon: JAX must not compute while Python ends.
            self._thread = threading.Thread(target=self._work, name="live training")
            self._thread.start()

    def _pause(self, learner: LearnerKind | None) -> None:
        self._refuse_other(learner)
        job = self._job
        if job is None or job.paused or not job.in_training:
            raise UsageError("pause: no agent is in training")
        job.paused = True

    def _go_on(self, learner: LearnerKind | None) -> None:
        self._refuse_other(learner)
        if self._job is None or not self._job.paused:
            raise UsageError("continue: no training is paused")
        self._job.paused = False

    def _reset(self, learner: LearnerKind | None) -> None:
        self._learner = learner or self._learner
        self._moved = {x: {} for x in LEARNERS}
        self._job = None

    def _refuse_other(self, learner: LearnerKind | None) -> None:
        if learner not in (None, self._learner):
            raise UsageError(f"the {self._learner} is in training, not the {learner}")

    def change(self, settings: Mapping[str, object]) -> None:
        """Move sliders, or switch learning from people on or off.

        A slider applies from the next chunk of updates on. If one of the settings is
        refused, none is changed.

        Raises:
            SettingError: a name is unknown, or a value is outside its range.
        """
        moved = dict(settings)
        from_people = moved.pop("learn_from_people", None)
        with self._changed:
            sliders.check_moved(self._learner, moved)
            if "learn_from_people" in settings:
                check("learn_from_people", bool, from_people)
                self._from_people = bool(from_people)
            floats = cast("dict[str, float]", moved)
            self._moved[self._learner] |= floats
            self._tell()
            self._changed.notify_all()

    def status(self) -> FullStatus:
        """Return everything to show as plain data, with the rows of all evaluations."""
        with self._changed:
            rows = [] if self._job is None else [*self._job.rows.values()]
            return {**self._status(), "history": rows}

    def subscribe(self) -> Mailbox:
        """Return a mailbox that gets the status after each change, until `unsubscribe`.

        A message has no history but, as `rows`, the new rows since the last one read.
        """
        box = Mailbox()
        with self._changed:
            self._mailboxes.append(box)
        return box

    def unsubscribe(self, box: Mailbox) -> None:
        """Put no more messages into this mailbox."""
        with self._changed:
            self._mailboxes = [other for other in self._mailboxes if other is not box]

    def agent(self, update: int | None = None) -> Agent | None:
        """Return the agent as it is now, or as it was at the evaluation after `update`.

        None if there is no agent, or no such evaluation.
        """
        with self._changed:
            job = self._job
            if job is None:
                return None
            found = job.latest if update is None else job.kept.get(update)
        return None if found is None else found.agent()

    def learn_game(self, moves: Sequence[int]) -> None:
        """Let the agent learn from a finished game, if that is switched on.

        It learns from the moves of both players. Nothing happens without an agent.

        Raises:
            MoveError: a move is illegal, or the game is not over.
        """
        with self._changed:
            job = self._job
            if job is None or not self._from_people or job.phase == "failed":
                return
            live_run.check_over(LEARNING[job.learner].config.env_id, moves)
            job.games.append([*moves])
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread, after the program that it compiles or runs."""
        with self._changed:
            self._closed, self._job = True, None
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _status(self) -> Status:
        job = self._job or Job(self._learner, self._num_runs, "idle")
        moved = self._moved[job.learner]
        return job.status(moved, self._speed, self._from_people)

    def _tell(self, rows: Sequence[HistoryRow] = ()) -> None:
        for box in self._mailboxes:
            box.put({**self._status(), "rows": list(rows)})

    def _work(self) -> None:
        """Run one job after another, in the thread."""
        while (job := self._next_job()) is not None:
            try:
                self._run(job)
            except Exception as error:
                self._fail(job, error)

    def _next_job(self) -> Job | None:
        """Wait for a job that has not begun; None at the end."""
        with self._changed:
            while not self._closed:
                if self._job is not None and not self._job.begun:
                    self._job.begun = True
                    return self._job
                self._changed.wait()
        return None

    def _run(self, job: Job) -> None:
        run, due = LiveRun(self._config(job), job.number), 0.0
        pace = updates_per_second(job.learner, self._speed)
        while (games := self._next_task(job, run.is_over, due)) is not None:
            if games:
                self._show(job, run, *run.learn(games, self._config(job)))
                continue
            begin, before = time.monotonic(), job.update
            snapshot, row = run.step(self._config(job))
            due = begin + (snapshot.update - before) / pace
            self._show(job, run, snapshot, row)

    def _config(self, job: Job) -> Config:
        with self._changed:
            return sliders.config_with(job.learner, self._moved[job.learner])

    def _next_task(self, job: Job, is_over: bool, due: float) -> Games | None:
        """Wait until a step is due, or games of people arrive, which are returned.

        No games mean a step; None means that the job has ended.
        """
        with self._changed:
            while self._job is job:
                if games := job.taken_games():
                    return games
                rest = due - time.monotonic()
                waits = job.paused or is_over
                if not waits and rest <= 0:
                    return []
                self._changed.wait(None if waits else rest)
        return None

    def _show(
        self, job: Job, run: LiveRun, snapshot: Snapshot, row: HistoryRow | None
    ) -> None:
        with self._changed:
            if self._job is job:
                job.note(run, snapshot, row)
                self._tell([row] if row is not None else [])

    def _fail(self, job: Job, error: Exception) -> None:
        with self._changed:
            job.phase, job.paused = "failed", False
            job.error = str(error) or type(error).__name__
            if self._job is job:
                self._tell()
