"""What a run writes as it trains: rows, snapshots, loggers, and checkpoints."""

import dataclasses
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from jax_ttt.config.game_facts import Seat
from jax_ttt.files import run_writer
from jax_ttt.files.agent_file import AgentFile
from jax_ttt.files.checkpoint import Checkpoint, Finished, LatestCheckpoint, Plan, Rank
from jax_ttt.files.loggers import Loggers
from jax_ttt.files.run_writer import RunWriter
from jax_ttt.grading.grade import Grade, SeatGrade
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import SavedAgent
from jax_ttt.runtime import processes, streams
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.training import environment, run_state
from jax_ttt.training.run_state import RunState, RunStep


class Schedule(NamedTuple):
    """When checkpoints are saved, and how many stay."""

    every: float  # seconds; 0: never while the run goes on
    keep: int


@runtime_checkable
class Shown(Protocol):
    """What shows the steps of a run."""

    def show(self, progress: RunStep, grade: Grade) -> None:
        """Show a step."""
        ...


class Recorder:
    """Follows a run: writes and shows its steps, and saves its state and its agent.

    An interruption adds an evaluation that the schedule does not have. The state that
    is saved is the one before it, so that the run continues as if nothing had happened.
    """

    def __init__(
        self,
        plan: Plan,
        writer: RunWriter,
        shown: Shown,
        loggers: Loggers,
        schedule: Schedule,
    ) -> None:
        """Begin a run; call `resume` if it continues."""
        self._plan, self._writer = plan, writer
        self._shown, self._loggers, self._schedule = shown, loggers, schedule
        self._due: float | None = None  # from the first step on
        self._saveable: tuple[RunState, Grade] | None = None  # of the schedule
        self._is_saved = False
        self._best: Rank | None = None
        self._progress: RunStep | None = None
        self._environment = environment.environment()
        self.grade = run_state.initial_grade(plan.config)
        """That of the last evaluation."""
        self.latest_path: Path | None = None
        """The path of the latest checkpoint, if there is one."""

    def resume(self, latest: LatestCheckpoint, state: RunState) -> None:
        """Continue from the state of a checkpoint; a new plan is saved at once.

        Only now can nothing refuse the run, so its files are cut back.
        """
        self._writer.resume(latest)
        checkpoint = latest.checkpoint
        self.latest_path, self.grade = latest.path, checkpoint.grade
        self._best = checkpoint.best
        self._progress = RunStep(state, None, None)
        self._saveable, self._is_saved = (state, self.grade), True
        if checkpoint.plan != self._plan:
            self._is_saved = False
            self.save()
        self._writer.update_settings(self._plan, self._environment)

    @property
    def progress(self) -> RunStep:
        """The last step; raises `ValueError` before the first one."""
        if self._progress is None:
            raise ValueError("the run has not begun")
        return self._progress

    @property
    def agent(self) -> SavedAgent:
        """The agent after the last step."""
        config, seed = self._plan.config, self._plan.seed
        params, update = self.progress.params, self.progress.update
        return SavedAgent(config, params, seed, update, self.grade)

    @property
    def _agent_file(self) -> AgentFile:
        return saved_agents.make_agent_file(self.agent)

    def follow(
        self, steps: Iterable[tuple[RunStep, Grade]], request: StopRequest
    ) -> None:
        """Follow the run to its end, which may be requested.

        Raises:
            FloatingPointError: the training diverged.
            OSError: a file or the output can't be written.
        """
        try:
            for self._progress, self.grade in steps:
                self._take(self._progress)
                if processes.max_over_processes(bool(request)):
                    self.save()
        except OSError:  # the reader of our output has ended, or the disk is full
            if self._progress is not None:
                if processes.num_processes() == 1:  # the others do not know of it
                    self.save()
                self._writer.save_agent(self._agent_file)
            raise
        except FloatingPointError as error:
            if self.latest_path is None:
                raise
            good = f"the last good checkpoint is {self.latest_path}"
            raise FloatingPointError(f"{error}; {good}") from None
        self._writer.save_agent(self._agent_file)
        interrupted = processes.max_over_processes(bool(request))
        self.save(self._finished(bool(interrupted)))

    def add_proof(self, searched: dict[Seat, SeatGrade]) -> None:
        """Add what the agent reaches by seat to its grade, in all files."""
        self.grade = dataclasses.replace(
            self.grade, first=searched.get("first"), second=searched.get("second")
        )
        self._write_row(RunStep(self.progress.state, None, None))
        self._writer.save_agent(self._agent_file)

    def _finished(self, interrupted: bool) -> Finished | None:
        if self.progress.update >= self._plan.config.run.num_updates:
            return "end"
        return None if interrupted else "proven"

    def _take(self, progress: RunStep) -> None:
        """Write down and show a step, and save the run's state if that is due."""
        if progress.metrics is not None:
            self._saveable = None  # the chunk took its arrays
        self._write_row(progress)
        is_scheduled = self._is_scheduled(progress)
        if is_scheduled:
            if progress.evaluation is not None:
                self._keep_agent(progress.update)
            self._saveable, self._is_saved = (progress.state, self.grade), False
        self._shown.show(progress, self.grade)
        if is_scheduled:
            self._save_if_due()

    def _write_row(self, progress: RunStep) -> None:
        row = run_state.metrics_row(progress, self.grade)
        self._writer.write_row(row)
        self._loggers.write_row(row)

    def _keep_agent(self, update: int) -> None:
        """Write the agent of an evaluation as a snapshot, and as the best one so far.

        Nearly all lines of play beat the untrained agent, so it is never the best one.
        """
        config = self._plan.config
        if self._plan.snapshots and run_writer.is_snapshot_kept(config, update):
            self._writer.save_snapshot(self._agent_file)
        rank = _rank(self.grade) if config.finds_counterexamples else None
        if rank is not None and (self._best is None or rank >= self._best):
            self._best = rank
            if update:
                self._writer.save_best(self._agent_file)

    def _save_if_due(self) -> None:
        every, now = self._schedule.every, time.monotonic()
        if self._due is None:
            self._due = now + every
        elif processes.max_over_processes(bool(every and now >= self._due)):
            self.save()

    def _is_scheduled(self, progress: RunStep) -> bool:
        """Return whether a step is one of the run that nothing interrupts."""
        config, update = self._plan.config, progress.update
        if progress.evaluation is None:
            return True
        if config.finds_counterexamples and not self.grade.searched:
            return False  # a signal ended the search
        regular = update % config.evaluation.eval_every == 0
        return regular or update >= config.run.num_updates

    def save(self, finished: Finished | None = None) -> None:
        """Save the latest state of the schedule; a failure is only a warning.

        Raises:
            FloatingPointError: a weight is not finite.
        """
        wanted = self._saveable and not (self._is_saved and finished is None)
        if not processes.max_over_processes(bool(wanted)) or self._saveable is None:
            return
        state, grade = self._saveable
        try:
            # First, since all processes take part; writing may fail in one of them.
            checkpoint = self._checkpoint(state, grade, finished)
            self.latest_path = self._writer.save_checkpoint(
                checkpoint, self._schedule.keep
            )
            self._is_saved = True
        except (OSError, OverflowError, MemoryError) as error:
            why = str(error) or "out of memory"
            streams.print_stderr(f"warning: no checkpoint was saved: {why}")
        self._due = time.monotonic() + self._schedule.every

    def _checkpoint(
        self, state: RunState, grade: Grade, finished: Finished | None
    ) -> Checkpoint:
        times = self._writer.times
        return Checkpoint(
            plan=self._plan,
            update=int(state.update),
            evaluated=int(state.evaluated),
            grade=grade,
            best=self._best,
            finished=finished,
            seconds={**times.seconds()},
            total_seconds=times.total(),
            environment=self._environment,
            tensors=run_state.copy_to_host(state),
        )


def _rank(grade: Grade) -> Rank | None:
    """Return what compares an agent; None if its losing ends are not all counted."""
    seats = [*grade.searched.values()]
    if not seats or not all(seat.complete for seat in seats):
        return None
    losing_ends = sum(seat.losing_ends or 0 for seat in seats)
    wins = sum(seat.win_rate for seat in seats) / len(seats)
    return grade.unbeatable is True, -losing_ends, wins
