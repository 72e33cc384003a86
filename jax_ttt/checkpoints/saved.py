"""The checkpoints in a run's folder: which there are, the newest good one, pruning.

The latest checkpoint is the one with the most updates, whatever the times of the files
are. Imports no JAX.
"""

import contextlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from jax_ttt.checkpoints.contents import Checkpoint, checkpoint_file, read_checkpoint
from jax_ttt.config.errors import UsageError
from jax_ttt.results.free_folders import CHECKPOINT
from jax_ttt.results.tensor_files import AgentError
from jax_ttt.runtime import files

_NAME = re.compile(CHECKPOINT.replace(".", r"\.").format(r"(\d{1,10})"), re.ASCII)
_ASIDE = ".damaged"


class Found(NamedTuple):
    """The newest good checkpoint of a run."""

    run: Path
    path: Path
    checkpoint: Checkpoint
    damaged: dict[Path, str]
    """Newer files that can't be used, and why."""


def path_of(run: Path, update: int) -> Path:
    """Return the path of a run's checkpoint after this many updates."""
    return run / CHECKPOINT.format(update)


def paths(run: Path) -> list[Path]:
    """Return the checkpoints in a run's folder, the latest first."""
    found = {path: _NAME.fullmatch(path.name) for path in run.iterdir()}
    updates = {path: int(match[1]) for path, match in found.items() if match}
    return sorted(updates, key=lambda path: updates[path], reverse=True)


def newest(run: Path) -> Found:
    """Return the newest good checkpoint in a run's folder.

    Raises:
        UsageError: there is no such folder, or no good checkpoint in it.
    """
    try:
        every = paths(run)
    except OSError as error:
        raise UsageError(f"--resume {run}: {error.strerror}") from None
    damaged: dict[Path, str] = {}
    for path in every:
        try:
            return Found(run, path, read_checkpoint(path), damaged)
        except AgentError as error:
            damaged[path] = str(error)
    if damaged:
        first, *others = damaged.values()
        older = "; nor can an older one be used" if others else ""
        raise UsageError(f"{first}{older}")
    why = "no checkpoint in this folder"
    if (run / "agent.safetensors").exists():
        why += "; its agent can be used, but the run can't be continued"
    raise UsageError(f"--resume {run}: {why}")


def set_aside(found: Found) -> None:
    """Rename newer files that can't be used, so that they are no longer the latest."""
    for path in found.damaged:
        os.replace(path, path.with_name(path.name + _ASIDE))


def save_checkpoint(run: Path, checkpoint: Checkpoint, keep: int) -> Path:
    """Write a checkpoint, then remove all but the latest `keep`; return its path.

    Raises:
        FloatingPointError: a weight is not finite.
        OverflowError: it is too large.
        OSError: it can't be written.
    """
    path = path_of(run, checkpoint.update)
    files.write_atomic(path, checkpoint_file(checkpoint))
    for old in paths(run)[keep:]:
        with contextlib.suppress(OSError):  # it costs space only
            old.unlink()
    return path
