"""Checkpoints: the state of a run and its plan, as a file.

It is a file of tensors (`files/tensor_file.py`) with every leaf of the run's state by
its name. This module doesn't import JAX, so that `--resume` can refuse a folder before
JAX is loaded.
"""

import dataclasses
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from jax_ttt.config.errors import UsageError
from jax_ttt.config.presets import Preset
from jax_ttt.config.ranges import SEED_RANGE, Setting
from jax_ttt.config.settings import Config
from jax_ttt.files import tensor_file
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.files.tensor_file import AgentError
from jax_ttt.grading.grade import Grade

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
class Plan:
    """What a run is to do; a run that continues keeps its plan."""

    config: Config
    preset: Preset
    seed: int
    until_proven: bool = False
    snapshots: bool = False
    tensorboard: bool = False
    wandb: str | None = None  # the id of its run at Weights & Biases


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A run at one moment, as plain data and NumPy arrays."""

    plan: Plan
    update: int  # updates done
    evaluated: int  # the update of the last evaluation; -1 before the first
    grade: Grade  # of the last evaluation
    best: Rank | None  # of the best agent so far, where losing ends are counted
    finished: Finished | None  # None if there is more to do
    seconds: dict[str, float]  # of the run's parts
    total_seconds: float
    environment: JsonObject  # versions, device, threads and random numbers
    tensors: dict[str, np.ndarray]  # the leaves of the state


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckpointDescription:
    """The description in a checkpoint's file, beside its tensors."""

    kind: Literal["checkpoint"] = "checkpoint"
    """The kind of file."""
    config: dict[str, Setting]
    """The settings, by the names of their fields."""
    preset: Preset
    """The preset that the settings started from."""
    seed: int
    """Seed of all random numbers."""
    until_proven: bool
    """Whether the run ends at the first proof."""
    snapshots: bool
    """Whether it keeps the agents of its evaluations."""
    tensorboard: bool
    """Whether it writes for TensorBoard."""
    wandb: str | None = None
    """The id of its run at Weights & Biases."""
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


class LatestCheckpoint(NamedTuple):
    """The newest good checkpoint of a run."""

    run: RunFolder
    path: Path
    checkpoint: Checkpoint
    damaged: dict[Path, str]
    """Newer files that can't be used, and why."""


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Return the contents of a checkpoint's file.

    Raises:
        FloatingPointError: a weight is not finite.
        OverflowError: it would be larger than what can be read.
    """
    if name := first_nonfinite_leaf(checkpoint.tensors):
        raise FloatingPointError(f"{name} is not finite; no checkpoint was saved")
    plan = checkpoint.plan
    description = CheckpointDescription(
        config=plan.config.as_dict(),
        preset=plan.preset,
        seed=plan.seed,
        until_proven=plan.until_proven,
        snapshots=plan.snapshots,
        tensorboard=plan.tensorboard,
        wandb=plan.wandb,
        update=checkpoint.update,
        evaluated=checkpoint.evaluated,
        grade=checkpoint.grade,
        best=checkpoint.best,
        finished=checkpoint.finished,
        seconds=checkpoint.seconds,
        total_seconds=checkpoint.total_seconds,
        environment=checkpoint.environment,
    )
    return tensor_file.encode_tensors(description, checkpoint.tensors)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return the checkpoint of a file.

    Whether its leaves fit the settings is not checked: that needs JAX.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or a weight is not finite.
    """
    description, tensors = tensor_file.read_tensors(path, CheckpointDescription)
    with tensor_file.errors_naming(path):
        config = Config.of(**description.config)
        SEED_RANGE.check("seed", description.seed)
    if name := first_nonfinite_leaf(tensors):
        raise AgentError(f"{path}: {name} is not finite")
    plan = Plan(
        config=config,
        preset=description.preset,
        seed=description.seed,
        until_proven=description.until_proven,
        snapshots=description.snapshots,
        tensorboard=description.tensorboard,
        wandb=description.wandb,
    )
    return Checkpoint(
        plan=plan,
        update=description.update,
        evaluated=description.evaluated,
        grade=description.grade,
        best=description.best,
        finished=description.finished,
        seconds=description.seconds,
        total_seconds=description.total_seconds,
        environment=description.environment,
        tensors=tensors,
    )


def first_nonfinite_leaf(tensors: dict[str, np.ndarray]) -> str | None:
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
        UsageError: there is no such folder, or no good checkpoint in it.
    """
    if not run.path.is_dir():
        raise UsageError(f"--resume {run.path}: no such folder")
    damaged: dict[Path, str] = {}
    for path in run.checkpoints():
        try:
            return LatestCheckpoint(run, path, read_checkpoint(path), damaged)
        except AgentError as error:
            damaged[path] = str(error)
    if damaged:
        first, *others = damaged.values()
        older = "; nor can an older one be used" if others else ""
        raise UsageError(f"{first}{older}")
    reason = "no checkpoint in this folder"
    if run.agent.exists():
        reason += "; its agent can be used, but the run can't be continued"
    raise UsageError(f"--resume {run.path}: {reason}")
