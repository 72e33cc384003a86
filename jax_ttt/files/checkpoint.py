"""Checkpoints: the state of a run, as a file.

It is a file of tensors (`files/tensor_file.py`) with every leaf of the run's state by
its name. What the run is to do stands in its `config.json`. A run that continues reads
both before the processes of `--distributed` join, so this module uses no JAX.
"""

import dataclasses
from pathlib import Path
from typing import Literal, NamedTuple

from jax_ttt.config.errors import AgentError, Refused
from jax_ttt.config.grade import Grade
from jax_ttt.files import run_folder, tensor_file
from jax_ttt.files.run_folder import Plan, RunFolder
from jax_ttt.files.tensor_file import TensorFile, Tensors

Finished = Literal["end", "proven"]
"""Why a run ended by itself: after its last update, or at the first proof."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkpoint(TensorFile):
    """A run at one moment: the entry `jax_ttt` in the metadata of a checkpoint's file.

    The tensors beside it are the leaves of the run's state. Those that a DQN learns are
    finite unless the training diverged; others, such as environment states, may be
    infinite or NaN.
    """

    must_be_finite = tuple(
        f"train_state.{name}."
        for name in ("params", "target_params", "average_params", "opt_state")
    )
    kind: Literal["checkpoint"] = "checkpoint"
    """The kind of file."""
    settings: str
    """The SHA-256 of the seed, and of the settings but for the number of updates."""
    num_updates: int
    """Updates of the whole run, by which the schedules went."""
    update: int
    """Updates done."""
    evaluated: int
    """The update of the last evaluation; -1 before the first one."""
    grade: Grade
    """The last evaluation."""
    finished: Finished | None = None
    """Why the run has nothing left to do; absent if it has."""


class LatestCheckpoint(NamedTuple):
    """The newest good checkpoint of a run, from which the run continues."""

    run: RunFolder
    plan: Plan
    """What the run is to do."""
    path: Path
    checkpoint: Checkpoint
    tensors: Tensors
    damaged: dict[Path, AgentError]
    """Newer files that can't be used, and why."""

    def end_text(self, num_updates: int | None) -> str | None:
        """Return the message for a run that has ended; None if it continues.

        `num_updates` is a new end that lets a run go on; None if none is asked for.
        """
        finished, update = self.checkpoint.finished, self.checkpoint.update
        planned = self.plan.config.num_updates
        # A run that went on has another plan, also if it saved no checkpoint since.
        went_on = {"end": planned > update, "proven": not self.plan.until_proven}
        if finished is None or went_on[finished] or (num_updates or 0) > update:
            return None
        proof = ", at the first proof, as --until-proven asked (by its file)"
        reason, more = {"end": ("", 2 * planned), "proven": (proof, planned)}[finished]
        return (
            f"the run in {self.run.path} ended at update {update:,}{reason}; "
            f"to go on: {self.run.resume_command()} --num-updates {more}"
        )


def newest_checkpoint(run: RunFolder) -> LatestCheckpoint:
    """Return the newest good checkpoint in a run's folder.

    Raises:
        Refused: there is no such folder, no good checkpoint in it, or it is of a run
            with other settings than those in the folder.
    """
    if not run.path.is_dir():
        raise Refused(f"--resume {run.path}: no such folder")
    damaged: dict[Path, AgentError] = {}
    for path in run.checkpoints():
        try:
            checkpoint, tensors = tensor_file.read_tensors(path, Checkpoint)
        except AgentError as error:
            damaged[path] = error
            continue
        plan = run_folder.read_settings(run.config)
        if checkpoint.settings != plan.settings_checksum():
            raise Refused(f"{path}: of a run with other settings than {run.config}")
        return LatestCheckpoint(run, plan, path, checkpoint, tensors, damaged)
    if damaged:
        first, *others = damaged.values()
        older = "; nor can an older one be used" if others else ""
        raise Refused(f"{first}{older}") from first
    reason = "no checkpoint in this folder"
    if run.agent.exists():
        reason += "; its agent can be used, but the run can't be continued"
    reason += run_folder.runs_hint(run.agent)
    raise Refused(f"--resume {run.path}: {reason}")
