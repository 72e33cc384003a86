"""Writing files."""

import csv
import errno
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO


def write_whole(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file so that a crash leaves the old file or the new one, never a part.

    `mode` is the file's permissions.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_csv(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows as CSV; a field that a row lacks is left empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(max(rows, key=len)))
        writer.writeheader()
        writer.writerows(rows)


def locked(path: Path) -> TextIO:
    """Open a file to append to, and lock it until it is closed or the process ends.

    If the system or the file system has no locks, the file must not exist yet.

    Raises:
        BlockingIOError: another process has locked it.
        FileExistsError: it exists, and there are no locks.
        OSError: it can't be opened.
    """
    try:
        file, new = path.open("x", encoding="utf-8"), True
    except FileExistsError:
        file, new = path.open("a", encoding="utf-8"), False
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        error.strerror = "another run is writing to it"
        raise
    except (ImportError, OSError):
        if not new:
            file.close()
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
    return file
