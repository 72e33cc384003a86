"""Whether a folder is free for a run. Imports no JAX."""

import errno
import json
import os
from pathlib import Path

from jax_ttt.config.errors import UsageError

LATER = ("snapshots.safetensors", "times.json")
"""Files of a run that a new run in its folder removes."""


def check_free(path: Path) -> None:
    """Raise `FileExistsError` if a folder holds an agent, or a file that is no run's.

    The files of a run that ended without an agent may be replaced.
    """
    config, metrics = path / "config.json", path / "metrics.jsonl"
    later = [path / name for name in LATER]
    ours = not config.exists() or _is_config(config)
    # A run writes its settings before all other files.
    ours &= config.exists() or not metrics.exists() or not metrics.stat().st_size
    ours &= config.exists() or not any(file.exists() for file in later)
    agent = path / "agent.safetensors"
    for taken in (agent, *(() if ours else (config, metrics, *later))):
        if taken.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), taken)


def check_makeable(path: Path) -> None:
    """Raise `OSError` if there is no such folder and it can't be made."""
    nearest = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not nearest.is_dir():
        code = errno.EEXIST if nearest == path else errno.ENOTDIR
        raise OSError(code, os.strerror(code), nearest)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), nearest)


def check_run_dir(path: Path | None) -> None:
    """Raise `UsageError` if the folder that is asked for can't hold a new run."""
    if path is None:
        return
    try:
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
