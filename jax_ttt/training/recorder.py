"""The recorder of a run: its rows, snapshots, loggers and checkpoints."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from jax_ttt.config.grade import Grade
from jax_ttt.files import run_writer, tensor_file
from jax_ttt.files.checkpoint import Checkpoint, Finished, LatestCheckpoint
from jax_ttt.files.loggers import Loggers
from jax_ttt.files.run_folder import Plan
from jax_ttt.files.run_writer import RunWriter
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import distributed, standard_streams
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.training import reproducibility, run_state
from jax_ttt.training.run_state import RunState, RunStep


class Schedule(NamedTuple):
    """When checkpoints are saved, and how many stay."""

    every: float  # seconds between two; 0: only at the end of the run
    keep: int  # the latest so many stay


@runtime_checkable
class StepDisplay(Protocol):
    """A display of a run's steps, such as the console."""

    def show(self, step: RunStep, grade: Grade, /) -> None:
        """Show a step."""
        ...


class Recorder:
    """Follows a run: writes and shows its steps, and saves its state and its agent.

    An interruption adds an evaluation that the schedule does not have. The saved state
    is the one before it, so that the run continues as if nothing had happened.
    """

    def __init__(
        self,
        plan: Plan,
        writer: RunWriter,
        display: StepDisplay,
        loggers: Loggers,
        schedule: Schedule,
    ) -> None:
        """Begin a run; call `resume` if it continues."""
        self._plan, self._writer = plan, writer
        self._display, self._loggers, self._schedule = display, loggers, schedule
        # When the next checkpoint is due, in monotonic seconds; set by the first step.
        self._due: float | None = None
        # The latest state of the schedule, and its grade.
        self._saveable: tuple[RunState, Grade] | None = None
        self._is_saved = False  # whether a checkpoint has `_saveable`
        self._last_step: RunStep | None = None
        self._environment = reproducibility.describe_environment()
        self.grade = run_state.initial_grade(plan.config)
        """The grade of the last evaluation."""
        self.latest_path: Path | None = None
        """The path of the latest checkpoint, if there is one."""

    def resume(self, latest: LatestCheckpoint, state: RunState) -> None:
        """Continue from the state of a checkpoint; a changed plan is saved at once.

        This drops the rows and snapshots that are newer than the checkpoint. Call it
        last, when nothing can refuse the run any more.
        """
        checkpoint = latest.checkpoint
        self._writer.resume(checkpoint.update, checkpoint.evaluated, latest.damaged)
        self.latest_path, self.grade = latest.path, checkpoint.grade
        self._last_step = RunStep(state, None, None)
        self._saveable, self._is_saved = (state, self.grade), True
        if checkpoint.plan != self._plan:
            self._is_saved = False
            self.save()
        self._writer.write_settings(self._plan, self._environment)

    @property
    def last_step(self) -> RunStep:
        """The last step; `ValueError` before the first one."""
        if self._last_step is None:
            raise ValueError("the run has not begun")
        return self._last_step

    @property
    def agent(self) -> Agent:
        """The agent after the last step."""
        return self._agent_of(self.last_step, self.grade)

    def _agent_of(self, step: RunStep, grade: Grade) -> Agent:
        plan = self._plan
        return Agent.of(plan.config, step.params(), plan.seed, step.update, grade)

    def _save_agent(self) -> None:
        self._writer.save_agent(saved_agents.agent_bytes(self.agent))

    @contextlib.contextmanager
    def following(self, request: StopRequest) -> Iterator[None]:
        """Follow a run within the block, which adds its steps, to its end.

        Raises:
            FloatingPointError: the training diverged.
            OSError: a file or the output can't be written.
        """
        try:
            yield
        except OSError:  # the reader of our output has ended, or the disk is full
            if self._last_step is not None:
                # Saving needs all processes, but only this one has failed.
                if distributed.num_processes() == 1:
                    self.save()
                self._save_agent()
            raise
        except FloatingPointError as error:
            if self.latest_path is None:
                raise
            message = f"{error}; the last good checkpoint is {self.latest_path}"
            raise FloatingPointError(message) from None
        self._save_agent()
        interrupted = distributed.max_over_processes(bool(request))
        self.save(self._reason_to_end(bool(interrupted)))

    def save_before_search(self, step: RunStep, grade: Grade) -> None:
        """Save the run and the evaluated agent of a step that is not added yet.

        A search may take hours, and the process may be killed in it.
        """
        self.save()
        agent = self._agent_of(step, grade)
        self._writer.save_agent(saved_agents.agent_bytes(agent))

    def _reason_to_end(self, interrupted: bool) -> Finished | None:
        """Return why the run has ended by itself; None if it was interrupted."""
        if self.last_step.update >= self._plan.config.num_updates:
            return "end"
        return None if interrupted else "proven"

    def add(self, step: RunStep, request: StopRequest) -> None:
        """Write and show a step; save the run's state if that is due or requested.

        Raises:
            FloatingPointError: an action value is not finite.
            OSError: a file or the output can't be written.
        """
        if step.evaluation is not None:
            self.grade = run_state.grade_of(self._plan.config, step.evaluation)
        self._last_step = step
        if step.is_row:
            self._write_row(step)
        is_scheduled = self._is_scheduled(step)
        if is_scheduled:
            if step.evaluation is not None:
                self._save_snapshot(step.update)
            self._saveable, self._is_saved = (step.state, self.grade), False
        self._display.show(step, self.grade)
        if is_scheduled:
            self._save_if_due()
        if distributed.max_over_processes(bool(request)):
            self.save()

    def _write_row(self, step: RunStep) -> None:
        row = run_state.metrics_row(step, self.grade)
        self._writer.write_row(row)
        self._loggers.write_row(row)

    def _save_snapshot(self, update: int) -> None:
        """Write an evaluated agent as a snapshot, if the run keeps that one."""
        config = self._plan.config
        if self._plan.snapshots and run_writer.is_snapshot_kept(config, update):
            content = saved_agents.agent_bytes(self.agent)
            self._writer.save_snapshot(update, content)

    def _save_if_due(self) -> None:
        every, now = self._schedule.every, time.monotonic()
        if self._due is None:
            self._due = now + every
        elif distributed.max_over_processes(bool(every and now >= self._due)):
            self.save()

    def _is_scheduled(self, step: RunStep) -> bool:
        """Return whether a step is of the schedule; an interruption adds another."""
        config, update = self._plan.config, step.update
        if step.evaluation is None:
            return True
        if config.finds_counterexamples and not self.grade.searched:
            return False  # a signal ended the search
        regular = update % config.eval_every == 0
        return regular or update >= config.num_updates

    def save(self, finished: Finished | None = None) -> None:
        """Save the latest state of the schedule; a failure is only a warning.

        If the run has `finished`, it is saved again, since its checkpoint has that too.

        Raises:
            FloatingPointError: a weight is not finite.
        """
        is_needed = self._saveable and not (self._is_saved and finished is None)
        if (
            not distributed.max_over_processes(bool(is_needed))
            or self._saveable is None
        ):
            return
        state, grade = self._saveable
        try:
            # Gathering the state comes first: all processes take part in it, but
            # writing may fail in one of them.
            tensors = run_state.copy_to_host(state)
            checkpoint = self._checkpoint(state, grade, finished)
            content = tensor_file.encode_tensors(checkpoint, tensors)
            self.latest_path = self._writer.save_checkpoint(
                state.update, content, self._schedule.keep
            )
            self._is_saved = True
        except (OSError, OverflowError, MemoryError) as error:
            reason = str(error) or "out of memory"
            standard_streams.print_stderr(f"warning: no checkpoint was saved: {reason}")
        self._due = time.monotonic() + self._schedule.every

    def _checkpoint(
        self, state: RunState, grade: Grade, finished: Finished | None
    ) -> Checkpoint:
        return Checkpoint(
            plan=self._plan,
            update=state.update,
            evaluated=int(state.evaluated),
            grade=grade,
            finished=finished,
            environment=self._environment,
        )
