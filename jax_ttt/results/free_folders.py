"""Whether a folder is free for a run. Imports no JAX."""

import errno
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from jax_ttt.config.errors import UsageError

EVENTS = "tensorboard/events.out.tfevents.{}.jax_ttt"
"""Path of TensorBoard's file in a run's folder, with a place for the time."""
CHECKPOINTS = "checkpoint-*.safetensors"
"""The states of a run from which it can continue."""
LATER = ("snapshots.safetensors", "times.json")
"""Files of a run that a new run in its folder removes."""


def check_free(path: Path) -> None:
    """Raise `FileExistsError` if a folder holds a run, or a file that is no run's.

    The files of a run that left neither an agent nor a checkpoint may be replaced.
    """
    config, metrics = path / "config.json", path / "metrics.jsonl"
    later = [path / name for name in LATER]
    ours = not config.exists() or _is_config(config)
    # A run writes its settings before all other files.
    ours &= config.exists() or not metrics.exists() or not metrics.stat().st_size
    ours &= config.exists() or not any(file.exists() for file in later)
    for found in path.glob(CHECKPOINTS):
        text = f"it holds a run; to continue it: {resuming(path)}"
        raise FileExistsError(errno.EEXIST, text, found)
    agent = path / "agent.safetensors"
    for taken in (agent, *(() if ours else (config, metrics, *later))):
        if taken.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), taken)


def resuming(path: Path) -> str:
    """Return the command that continues the run in a folder."""
    return f"python -m jax_ttt.train --resume {shlex.quote(str(path))}"


def check_makeable(path: Path) -> None:
    """Raise `OSError` if there is no such folder and it can't be made."""
    nearest = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not nearest.is_dir():
        code = errno.EEXIST if nearest == path else errno.ENOTDIR
        raise OSError(code, os.strerror(code), nearest)
    # Some file systems, such as /proc, allow it by their permissions and refuse it.
    trial = nearest / f".jax_ttt-{os.getpid()}"
    trial.mkdir()
    trial.rmdir()


def check_run_dir(
    path: Path | None, check_unlocked: Callable[[Path], None] = lambda path: None
) -> None:
    """Raise `UsageError` if the folder that is asked for can't hold a new run.

    `check_unlocked` raises `OSError` if another process writes to a folder.
    """
    if path is None:
        return
    try:
        check_unlocked(path)
        check_makeable(path)
        check_free(path)
    except (OSError, ValueError) as error:
        raise not_free(path, error) from None


def not_free(path: Path, error: OSError | ValueError) -> UsageError:
    """Return that a run can't be written to a folder, and why."""
    why = getattr(error, "strerror", None) or error
    rule = "a folder that can be made and holds no run"
    return UsageError(f"--run-dir must be {rule}, got '{path}': {why}")


def _is_config(path: Path) -> bool:
    """Return whether a file is the `config.json` of a run."""
    try:
        about = json.loads(path.read_text("utf-8"))
        return "jax_ttt" in about["versions"] and "seed" in about
    except (ValueError, KeyError, TypeError):
        return False
