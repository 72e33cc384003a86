"""Whether a folder is free for a run, and its lock. Imports no JAX."""

import contextlib
import errno
import os
import shlex
from pathlib import Path

from jax_ttt.config.errors import UsageError
from jax_ttt.results import reading

LOCK = ".lock"
"""The file of a folder's lock. It stays if its process is killed, without the lock."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
EVENTS = "tensorboard/events.out.tfevents.{}.jax_ttt"
"""Path of TensorBoard's file in a run's folder, with a place for the time."""
CHECKPOINT = "checkpoint-{}.safetensors"
"""Name of a state from which a run can continue, with a place for its updates."""
SNAPSHOTS = "snapshots.safetensors"
BEST = "best.safetensors"
"""Name of the agent with the fewest losing ends, of a run that looks for them."""
LATER = (SNAPSHOTS, BEST, "times.json")
"""Files of a run that a new run in its folder removes."""


class FolderLock:
    """A lock on a folder, until it is closed or the process ends.

    The system's lock is on the folder's file `.lock`, which holds the number of the
    process. If the system or the file system has no locks, the file must not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        """Lock the folder.

        Raises:
            BlockingIOError: another process has locked it.
            FileExistsError: the file exists, and there are no locks.
            OSError: it can't be locked.
        """
        self._path = folder / LOCK
        while not self._is_locked():  # the file was removed as we opened it
            os.close(self._handle)

    def _is_locked(self) -> bool:
        new = not self._path.exists()
        flags = os.O_RDWR | os.O_CREAT | _NO_LINK
        self._handle = os.open(self._path, flags, 0o644)
        try:
            _lock(self._handle, shared=False)
        except BlockingIOError as error:
            os.close(self._handle)
            raise _in_use(self._path) from error
        except (ImportError, OSError):
            if not new:
                os.close(self._handle)
                text = "there is no lock here; remove it if no run writes to its folder"
                raise FileExistsError(errno.EEXIST, text, self._path) from None
        try:
            same = os.path.samestat(os.fstat(self._handle), self._path.stat())
        except FileNotFoundError:
            return False
        if same:
            with contextlib.suppress(OSError):  # a full disk: the number only informs
                os.ftruncate(self._handle, 0)
                os.write(self._handle, f"{os.getpid()}\n".encode())
        return same

    def close(self) -> None:
        """Unlock the folder and remove the file."""
        self._path.unlink(missing_ok=True)  # while it is locked
        os.close(self._handle)


def check_unlocked(folder: Path) -> None:
    """Raise `BlockingIOError` if another process has locked the folder."""
    try:
        with os.fdopen(os.open(folder / LOCK, os.O_RDONLY | _NO_LINK)) as file:
            _lock(file.fileno(), shared=True)
    except BlockingIOError:
        raise _in_use(folder / LOCK) from None
    except (ImportError, OSError):  # there is no lock, or the folder is not ours
        return


def _lock(handle: int, shared: bool) -> None:
    """Lock an open file; raises `ImportError` if the system has no such locks."""
    import fcntl  # not on Windows

    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(handle, kind | fcntl.LOCK_NB)


def _in_use(path: Path) -> BlockingIOError:
    try:
        number = int(path.read_text("ascii"))
    except (OSError, ValueError):  # it is about to be written, or was just removed
        return BlockingIOError(errno.EAGAIN, "in use by another process", path)
    return BlockingIOError(errno.EAGAIN, f"in use by process {number}", path)


def check_free(path: Path) -> None:
    """Raise `FileExistsError` if a folder holds a run, or a file that is no run's.

    The files of a run that left neither an agent nor a checkpoint may be replaced.
    """
    config, metrics = path / "config.json", path / "metrics.jsonl"
    later = [*(path / name for name in LATER), *path.glob(EVENTS.format("*"))]
    ours = not config.exists() or _is_config(config)
    # A run writes its settings before all other files.
    ours &= config.exists() or not metrics.exists() or not metrics.stat().st_size
    ours &= config.exists() or not any(file.exists() for file in later)
    for found in path.glob(CHECKPOINT.format("*")):
        text = f"it holds a run; to continue it: {resuming(path)}"
        raise FileExistsError(errno.EEXIST, text, found)
    agent = path / "agent.safetensors"
    for taken in (agent, *(() if ours else (config, metrics, *later))):
        if taken.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), taken)


def resuming(path: Path) -> str:
    """Return the command that continues the run in a folder."""
    return f"python -m jax_ttt.train --resume {shlex.quote(str(path))}"


def how_to_continue(path: Path) -> str:
    """Return how to continue the run in a folder, if it has a checkpoint."""
    if any(path.glob(CHECKPOINT.format("*"))):
        return f"to continue: {resuming(path)}"
    return "there is no checkpoint, so the run can't be continued"


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


def check_run_dir(path: Path | None) -> None:
    """Raise `UsageError` if the folder that is asked for can't hold a new run."""
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
        settings = reading.json_file(path)
    except ValueError:
        return False
    match settings:
        case {"versions": {"jax_ttt": _}, "seed": _}:
            return True
        case _:
            return False
