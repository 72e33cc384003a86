"""What a run writes as it trains: rows, snapshots, loggers, and checkpoints."""

import dataclasses
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np

from jax_ttt.checkpoints import saved
from jax_ttt.checkpoints.contents import Checkpoint, Finished, Plan, Positions
from jax_ttt.checkpoints.environment import environment
from jax_ttt.checkpoints.loggers import Loggers
from jax_ttt.config.catalogue import Seat
from jax_ttt.files.records import JsonObject
from jax_ttt.players.agents import Agent
from jax_ttt.results.grades import Grades, Reached
from jax_ttt.runtime import streams
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.scaling import processes
from jax_ttt.training import graded_steps, run_state
from jax_ttt.training.run_folder import RunFolder
from jax_ttt.training.run_state import Progress, RunState


class Schedule(NamedTuple):
    """When checkpoints are saved, and how many stay."""

    every: float  # seconds; 0: never while the run goes on
    keep: int


@runtime_checkable
class Shown(Protocol):
    """What shows the steps of a run."""

    def show(self, progress: Progress, grades: Grades) -> None:
        """Show a step."""
        ...

    @property
    def position(self) -> JsonObject:
        """What a later process needs to continue here."""
        ...


class Recorder:
    """Follows a run: shows and writes its steps, and saves its state and its agent.

    An interruption adds an evaluation that the schedule does not have. The state that
    is saved is the one before it, so that the run continues as if nothing had happened.
    """

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        shown: Shown,
        open_loggers: Loggers,
        schedule: Schedule,
        before: saved.Found | None = None,
    ) -> None:
        """Begin; `before` is the checkpoint where the run continues, if it does."""
        self._plan, self._folder, self._before = plan, folder, before
        self._shown, self._loggers, self._schedule = shown, open_loggers, schedule
        self._due: float | None = None  # from the first step on
        self._environment: JsonObject | None = None
        self._noted: tuple[RunState, Positions] | None = None
        self._is_saved = False
        self.grades = Grades()
        """Those of the last evaluation."""
        self._progress: Progress | None = None
        self.latest: Path | None = None
        """The path of the latest checkpoint, if there is one."""
        self._evaluations = 0
        if before is not None:
            self.latest = before.path
            self._evaluations = before.checkpoint.positions.evaluations

    @property
    def progress(self) -> Progress:
        """The last step; raises `ValueError` before the first one."""
        if self._progress is None:
            raise ValueError("the run has not begun")
        return self._progress

    @property
    def agent(self) -> Agent:
        """The agent after the last step."""
        config, seed = self._plan.config, self._plan.seed
        params, update = self.progress.params, self.progress.update
        return Agent(config, params, seed, update, self.grades)

    def follow(
        self, steps: Iterable[tuple[Progress, Grades]], request: StopRequest
    ) -> None:
        """Follow the run to its end, which may be requested.

        A first step without results is the state where the run continues.

        Raises:
            FloatingPointError: the training diverged.
            OSError: a file or the output can't be written.
        """
        try:
            for self._progress, self.grades in steps:
                self._take(self._progress)
                if processes.max_over_processes(bool(request)):
                    self.save()
        except OSError:  # the reader of our output has ended, or the disk is full
            if self._progress is not None:
                if processes.count() == 1:  # the others do not know of it
                    self.save()
                self._folder.save_agent(self.agent)
            raise
        except FloatingPointError as error:
            good = f"; the last good checkpoint is {self.latest}" if self.latest else ""
            raise FloatingPointError(f"{error}{good}") from None
        self._folder.save_agent(self.agent)
        interrupted = processes.max_over_processes(bool(request))
        self.save(self._finished(bool(interrupted)))

    def add_proof(self, reached: dict[Seat, Reached]) -> None:
        """Add results against every opponent to the agent's grades, in all files."""
        self.grades = dataclasses.replace(self.grades, reached=reached)
        row = graded_steps.row(Progress(self.progress.state, None, None), self.grades)
        self._folder.write_row(row)
        self._loggers.write_row(row)
        self._folder.save_agent(self.agent)

    def _finished(self, interrupted: bool) -> Finished | None:
        if self.progress.update >= self._plan.config.run.num_updates:
            return "end"
        return None if interrupted else "proven"

    def _take(self, progress: Progress) -> None:
        """Write down and show a step, and save the run's state if that is due."""
        if progress.metrics is None and progress.evaluation is None:
            self._continue(progress.state)
            return
        config = self._plan.config
        row = graded_steps.row(progress, self.grades)
        self._folder.write_row(row)
        self._folder.add_snapshot(progress)
        if config.finds_counterexamples and _is_best(progress):
            self._folder.save_best(self.agent)
        self._loggers.write_row(row)
        scheduled = self._is_scheduled(progress)
        if scheduled:
            self._evaluations += progress.evaluation is not None
            self._note(progress.state)
        self._shown.show(progress, self.grades)
        if scheduled:
            self._note(progress.state)  # with the position of what is shown
            self._save_if_due()

    def _save_if_due(self) -> None:
        every, now = self._schedule.every, time.monotonic()
        if self._due is None:
            self._due = now + every
        elif processes.max_over_processes(bool(every and now >= self._due)):
            self.save()

    def _continue(self, state: RunState) -> None:
        """Note where the run continues; a new end of it is saved at once.

        Only now can nothing refuse it, so its files are cut back to the checkpoint.
        """
        if self._before is not None:
            self._folder.cut_metrics(self._before.checkpoint.positions.metrics)
            if processes.writes():
                saved.set_aside(self._before)
        self._note(state)
        config, seed, preset = self._plan.config, self._plan.seed, self._plan.preset
        self._is_saved = True
        if self._before and self._before.checkpoint.plan.config != config:
            self._is_saved = False
            self.save()
            self._folder.write_config(config, seed, preset)

    def _is_scheduled(self, progress: Progress) -> bool:
        """Return whether a step is one of the run that nothing interrupts."""
        config, update = self._plan.config, progress.update
        if progress.evaluation is None:
            return True
        if config.finds_counterexamples and self.grades.reached is None:
            return False  # a signal ended the search
        regular = update % config.evaluation.eval_every == 0
        return regular or update >= config.run.num_updates

    def _note(self, state: RunState) -> None:
        """Note what `save` saves: this state, and the positions of the outputs."""
        positions = Positions(
            metrics=self._folder.num_bytes,
            evaluations=self._evaluations,
            loggers=self._loggers.positions(),
            console=self._shown.position,
        )
        self._noted, self._is_saved = (state, positions), False

    def save(self, finished: Finished | None = None) -> None:
        """Save the state that was noted last; a failure is only a warning.

        Raises:
            FloatingPointError: a weight is not finite.
        """
        wanted = self._noted and not (self._is_saved and finished is None)
        if not processes.max_over_processes(bool(wanted)) or self._noted is None:
            return
        state, positions = self._noted
        # The next chunk takes the arrays of a state, so they may be gone.
        if any(_is_gone(leaf) for leaf in jax.tree.leaves(state.train_state)):
            return
        with self._folder.times.recording("write"):
            try:
                # First, since all processes take part; writing may fail in one of them.
                checkpoint = self._checkpoint(state, positions, finished)
                self._folder.sync()
                if processes.writes():
                    self.latest = saved.save_checkpoint(
                        self._folder.path, checkpoint, self._schedule.keep
                    )
                self._is_saved = True
            except (OSError, OverflowError, MemoryError) as error:
                why = str(error) or "out of memory"
                streams.tell(f"warning: no checkpoint was saved: {why}")
        self._due = time.monotonic() + self._schedule.every

    def _checkpoint(
        self, state: RunState, positions: Positions, finished: Finished | None
    ) -> Checkpoint:
        if self._environment is None:
            self._environment = environment()
        times = self._folder.times
        return Checkpoint(
            plan=self._plan,
            update=int(state.update),
            finished=finished,
            positions=positions,
            times={"seconds": {**times.seconds()}, "total": times.total()},
            environment=self._environment,
            tensors=run_state.on_host(state),
        )


def _is_gone(leaf: object) -> bool:
    return isinstance(leaf, jax.Array) and leaf.is_deleted()


def _is_best(progress: Progress) -> bool:
    """Return whether an evaluation has just found the best trained agent so far."""
    best = progress.state.best
    if progress.evaluation is None or best is None or not progress.update:
        return False
    # The loss rate is NaN if a search was cut, so that it can't be compared.
    return bool(best.update == progress.update and np.isfinite(best.loss_rate).all())
