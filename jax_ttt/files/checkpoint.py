"""Checkpoints: the state of a run and its plan, as a file.

It is a file of tensors (`files/tensor_file.py`) with every leaf of the run's state by
its name. This module doesn't import JAX, so that `--resume` can refuse a folder before
JAX is loaded.
"""

import dataclasses
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from jax_ttt.config.errors import Refused
from jax_ttt.config.grade import Grade
from jax_ttt.files import agent_file, json_records, tensor_file
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.run_folder import RunFolder, Settings
from jax_ttt.files.tensor_file import AgentError, TensorFile, Tensors

Finished = Literal["end", "proven"]
"""Why a run ended by itself: after its last update, or at the first proof."""
Rank = tuple[bool, int, float]
"""The order of agents, ascending: proven or not, minus the losing ends, win rate."""
_LEARNED = tuple(
    f"train_state.{name}."
    for name in ("params", "target_params", "average_params", "opt_state")
)
"""Beginnings of the names of leaves that are finite unless the training diverged."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan(Settings):
    """What a run is to do; a run that continues keeps its plan."""

    until_proven: bool = False
    """Whether the run ends at the first proof."""
    snapshots: bool = False
    """Whether it keeps the agents of its evaluations."""
    tensorboard: bool = False
    """Whether it writes for TensorBoard."""
    wandb: str | None = None
    """The id of its run at Weights & Biases."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A run at one moment: the description in a checkpoint's file.

    The tensors beside it are the leaves of the run's state.
    """

    kind: Literal["checkpoint"] = "checkpoint"
    """The kind of file."""
    plan: Plan
    """What the run is to do."""
    update: int
    """Updates done."""
    evaluated: int
    """The update of the last evaluation; -1 before the first one."""
    grade: Grade
    """The last evaluation."""
    best: Rank | None = None
    """Of the best agent so far: whether it is proven, minus its number of losing ends,
    its win rate."""
    finished: Finished | None = None
    """Why the run has nothing left to do; absent if it has."""
    seconds: dict[str, float]
    """Seconds of the run's parts."""
    total_seconds: float
    """Seconds of the run."""
    environment: JsonObject
    """Versions, device, number of threads and random number generator, which decide
    whether the bits stay the same."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckpointMetadata(Checkpoint, TensorFile):
    """The entry `jax_ttt` in the metadata of a checkpoint's file."""


class LatestCheckpoint(NamedTuple):
    """The newest good checkpoint of a run."""

    run: RunFolder
    path: Path
    checkpoint: Checkpoint
    tensors: Tensors
    damaged: dict[Path, AgentError]
    """Newer files that can't be used, and why."""


def encode_checkpoint(checkpoint: Checkpoint, tensors: Tensors) -> bytes:
    """Return the contents of a checkpoint's file.

    Raises:
        FloatingPointError: a weight is not finite.
        OverflowError: it would be larger than what can be read.
    """
    if name := first_nonfinite_leaf(tensors):
        raise FloatingPointError(f"{name} is not finite; no checkpoint was saved")
    metadata = json_records.extend(CheckpointMetadata, checkpoint)
    return tensor_file.encode_tensors(metadata, tensors)


def read_checkpoint(path: Path) -> tuple[Checkpoint, Tensors]:
    """Return the checkpoint of a file, and the leaves of the run's state by name.

    Whether the leaves fit the settings is not checked: that needs JAX.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or a weight is not finite.
    """
    checkpoint, tensors = tensor_file.read_tensors(path, Checkpoint)
    if name := first_nonfinite_leaf(tensors):
        raise AgentError(f"{path}: {name} is not finite")
    return checkpoint, tensors


def first_nonfinite_leaf(tensors: Tensors) -> str | None:
    """Return the name of the first learned leaf that is not finite; None if all are.

    Other leaves, such as environment states, may be infinite or NaN.
    """
    for name, tensor in tensors.items():
        if name.startswith(_LEARNED) and not np.isfinite(tensor).all():
            return name
    return None


def newest_checkpoint(run: RunFolder) -> LatestCheckpoint:
    """Return the newest good checkpoint in a run's folder.

    Raises:
        Refused: there is no such folder, or no good checkpoint in it.
    """
    if not run.path.is_dir():
        raise Refused(f"--resume {run.path}: no such folder")
    damaged: dict[Path, AgentError] = {}
    for path in run.checkpoints():
        try:
            checkpoint, tensors = read_checkpoint(path)
        except AgentError as error:
            damaged[path] = error
        else:
            return LatestCheckpoint(run, path, checkpoint, tensors, damaged)
    if damaged:
        first, *others = damaged.values()
        older = "; nor can an older one be used" if others else ""
        raise Refused(f"{first}{older}") from first
    reason = "no checkpoint in this folder"
    if run.agent.exists():
        reason += "; its agent can be used, but the run can't be continued"
    reason += agent_file.runs_hint(run.agent)
    raise Refused(f"--resume {run.path}: {reason}")
