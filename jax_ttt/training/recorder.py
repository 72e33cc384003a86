"""The recorder of a run: the one writer of its folder."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from jax_ttt.config.errors import Refused
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, loggers, run_folder, tensor_file
from jax_ttt.files.checkpoint import Checkpoint, Finished, LatestCheckpoint
from jax_ttt.files.loggers import Loggers
from jax_ttt.files.metrics_rows import Evaluated, read_row
from jax_ttt.files.run_folder import Lock, Plan, RunFolder
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import atomic_files, distributed
from jax_ttt.runtime.atomic_files import UnreadableError
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.runtime.standard_streams import print_stderr
from jax_ttt.training import reproducibility, run_state
from jax_ttt.training.run_state import RunState, RunStep

MAX_SNAPSHOTS = 32
"""About the most snapshots of a run, whatever the number of its evaluations."""
_DAMAGED = ".damaged"
"""The ending of a damaged checkpoint's new name, under which it is no longer read."""


class Recorder:
    """Follows a run: writes its settings, rows, agents, checkpoints and logs.

    An interruption adds an evaluation that the schedule does not have. The saved state
    is the one before it, so that the run continues as if nothing had happened.

    If several processes train one run, only one of them writes. The others have a
    recorder that writes nothing (`writes` is False), so that all run the same code.
    """

    def __init__(
        self,
        run: RunFolder,
        plan: Plan,
        *,
        save_every: float,
        keep: int,
        writes: bool = True,
    ) -> None:
        """Make the folder if it is missing, and lock it; then call `begin` or `resume`.

        `save_every` are the seconds between two checkpoints, 0 for one at the end only;
        the latest `keep` stay.

        Raises:
            OSError: another process is writing to it, or it can't be made.
        """
        self.run, self._plan, self._writes = run, plan, writes
        self._save_every, self._keep = save_every, keep
        # When the next checkpoint is due, in monotonic seconds; set by the first step.
        self._due: float | None = None
        # The latest state of the schedule, and its grade.
        self._saveable: tuple[RunState, Grade] | None = None
        self._is_saved = False  # whether a checkpoint has `_saveable`
        self._last_step: RunStep | None = None
        self._lock: Lock | None = None
        self._loggers: Loggers = {}
        self.grade = run_state.initial_grade(plan.config)
        """The grade of the last evaluation."""
        self.latest_path: Path | None = None
        """The path of the latest checkpoint, if there is one."""
        self.finished: Finished | None = None
        """Why the run has ended by itself; None before that, and if it is interrupted.
        """
        if writes:
            run.path.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(run.lock)
            atomic_files.remove_temporary(run.path)
            atomic_files.remove_temporary(run.snapshots)

    def begin(self) -> None:
        """Begin a new run; the files of one that can't be continued are removed.

        Raises:
            Refused: the folder holds something else.
        """
        if self._writes and (replaced := self.run.files_to_replace()):
            reason = "it left neither an agent nor a checkpoint"
            print_stderr(f"replacing the run in {self.run.path}: {reason}")
            for path in replaced:
                path.unlink()
        self._open(first_update=0)

    def resume(self, latest: LatestCheckpoint, step: RunStep) -> None:
        """Continue from the step of a checkpoint; see `run_start.restored_step`.

        This drops the rows and snapshots that are newer than the checkpoint, and
        renames newer ones that are damaged. Call it last, when nothing else can refuse
        the run any more.

        Raises:
            Refused: the file of metrics can't be read, or another process has continued
                the run since the checkpoint was read.
        """
        checkpoint = latest.checkpoint
        if self._writes:
            good = [x for x in self.run.checkpoints() if x not in latest.damaged]
            if good[:1] != [latest.path]:
                rule = "another process has continued it"
                raise Refused(f"--resume {self.run.path}: {rule}")
            rows = self._rows_until(checkpoint)
            for path in latest.damaged:
                path.replace(path.with_name(path.name + _DAMAGED))
            atomic_files.write_atomic(self.run.metrics, rows)
            snapshots = run_folder.snapshots_in(self.run.snapshots)
            for update, path in snapshots.items():
                if update > checkpoint.evaluated:
                    path.unlink()
        self.latest_path, self.grade = latest.path, checkpoint.grade
        self._last_step = step
        self._saveable, self._is_saved = (step.state, self.grade), True
        self._open(first_update=checkpoint.update + 1)

    def _rows_until(self, checkpoint: Checkpoint) -> bytes:
        """Return the lines of the metrics up to a checkpoint, without damaged ones."""
        path = self.run.metrics
        if not path.exists():
            print_stderr(f"warning: {path}: no such file, so earlier rows are lost")
            return b""
        try:
            lines = self.run.lines()
        except UnreadableError as error:
            raise Refused(f"{path}: {error}") from None
        rows = []
        for line in lines:
            try:
                row = read_row(line)
            except ValueError as error:
                print_stderr(f"warning: {path}: dropped a row: {error}")
                continue
            # An interruption adds an evaluation, which the checkpoint does not have.
            is_evaluation = isinstance(row, Evaluated)
            last = checkpoint.evaluated if is_evaluation else checkpoint.update
            if row.update <= last:
                rows.append(line + b"\n")
        return b"".join(rows)

    def _open(self, first_update: int) -> None:
        """Write the settings, and open the loggers."""
        # A word that is not UTF-8 could not be read again.
        words = [
            os.fsencode(w).decode(errors="backslashreplace") for w in sys.orig_argv
        ]
        fields = json_records.to_dict(self._plan) | {"command": words}
        fields |= reproducibility.describe_environment()
        self._write(self.run.config, f"{json.dumps(fields, indent=2)}\n".encode())
        if self._writes:
            self._loggers = loggers.open_loggers(self.run, self._plan, first_update)

    def close(self) -> None:
        """Close the loggers, and unlock the folder."""
        loggers.for_each(self._loggers, lambda logger: logger.close())
        if self._lock is not None:
            self._lock.close()

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
                self._write_agent(self.agent)
            raise
        except FloatingPointError as error:
            if self.latest_path is None:
                raise
            message = f"{error}; the last good checkpoint is {self.latest_path}"
            raise FloatingPointError(message) from None
        self._write_agent(self.agent)
        interrupted = distributed.max_over_processes(bool(request))
        if self.last_step.update >= self._plan.config.num_updates:
            self.finished = "end"
        elif not interrupted:
            self.finished = "proven"
        self.save(self.finished)

    def save_before_search(self, step: RunStep, grade: Grade) -> None:
        """Save the run and the evaluated agent of a step that is not added yet.

        A search may take hours, and the process may be killed in it.
        """
        self.save()
        self._write_agent(self._agent_of(step, grade))

    def add(self, step: RunStep, request: StopRequest) -> None:
        """Write a step; save the run's state if that is due or requested.

        Raises:
            FloatingPointError: an action value is not finite.
            OSError: a file can't be written.
        """
        if step.evaluation is not None:
            self.grade = run_state.grade_of(self._plan.config, step.evaluation)
        self._last_step = step
        if step.is_row:
            self._write_row(step)
        if self._is_scheduled(step):
            if step.evaluation is not None:
                self._write_snapshot(step.update)
            self._saveable, self._is_saved = (step.state, self.grade), False
            self._save_if_due()
        if distributed.max_over_processes(bool(request)):
            self.save()

    def _write_row(self, step: RunStep) -> None:
        """Append a row, which is then in the file, though not yet on the disk."""
        row = run_state.metrics_row(step, self.grade)
        if self._writes:
            line = json_records.to_json(row)
            atomic_files.append_lines(self.run.metrics, [line], to_disk=False)
        loggers.for_each(self._loggers, lambda logger: logger.send(row))

    def _write_agent(self, agent: Agent) -> None:
        self._write(self.run.agent, saved_agents.agent_bytes(agent))

    def _write_snapshot(self, update: int) -> None:
        """Write the agent if the run keeps its snapshot; a failure is a warning."""
        config, path = self._plan.config, self.run.snapshot(update)
        if not (self._plan.snapshots and is_snapshot_kept(config, update)):
            return
        content = saved_agents.agent_bytes(self.agent)
        try:
            if self._writes:
                path.parent.mkdir(exist_ok=True)
            self._write(path, content)
        except OSError as error:
            print_stderr(f"warning: {error}")

    def _write(self, path: Path, content: bytes) -> None:
        if self._writes:
            atomic_files.write_atomic(path, content)

    def _save_if_due(self) -> None:
        every, now = self._save_every, time.monotonic()
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
            checkpoint = Checkpoint(
                settings=self._plan.settings_checksum(),
                num_updates=self._plan.config.num_updates,
                update=state.update,
                evaluated=int(state.evaluated),
                grade=grade,
                finished=finished,
            )
            content = tensor_file.encode_tensors(checkpoint, tensors)
            self._write_checkpoint(self.run.checkpoint(state.update), content)
            self._is_saved = True
        except (OSError, OverflowError, MemoryError) as error:
            reason = str(error) or "out of memory"
            print_stderr(f"warning: no checkpoint was saved: {reason}")
        self._due = time.monotonic() + self._save_every

    def _write_checkpoint(self, path: Path, content: bytes) -> None:
        """Write a checkpoint, then remove all but the latest ones."""
        self._write(path, content)
        self.latest_path = path
        if self._writes:
            for old in self.run.checkpoints()[self._keep :]:
                with contextlib.suppress(OSError):  # an old file only takes space
                    old.unlink()


def is_snapshot_kept(config: Config, update: int) -> bool:
    """Return whether the snapshot of a regular evaluation at this update is kept.

    If a run has more evaluations than `MAX_SNAPSHOTS`, only the snapshots of every
    second, fourth, eighth, ... evaluation and of the last one are kept.
    """
    every = config.eval_every
    step = 1
    while config.num_updates // (every * step) >= MAX_SNAPSHOTS:
        step *= 2
    return update % (every * step) == 0 or update == config.num_updates
