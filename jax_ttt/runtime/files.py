"""Reading files of bounded size; writing the old file or the new one, never a part."""

import contextlib
import csv
import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path

TEMPORARY = ".{}.{}.tmp"
"""The name of a file that is being written, with places for its name and the process.
"""


class UnreadableError(ValueError):
    """A file can't be read, or should not be; the message says why."""


class WriteError(OSError):
    """A file can't be written; the message names the file and the reason."""

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}"


def check_readable(path: Path, most: int) -> None:
    """Raise `UnreadableError` unless a path is a regular file of at most `most` bytes.

    Nothing is opened: that of a pipe would wait, that of a device may have an effect.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise UnreadableError(getattr(error, "strerror", None) or str(error)) from None
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError("not a regular file")
    if status.st_size > most:
        raise UnreadableError(f"larger than {most:,} bytes")


def read_bounded(path: Path, most: int) -> bytes:
    """Return the contents of a regular file of at most `most` bytes.

    Raises:
        UnreadableError: there is no such file, or it can't be read or is too large.
    """
    check_readable(path, most)
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(error.strerror or repr(error)) from None


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file so that a crash leaves the old file or the new one, never a part.

    Raises:
        WriteError: the file can't be written. The old one is unchanged, and no
            temporary file is left.
    """
    temporary = path.with_name(TEMPORARY.format(path.name, os.getpid()))
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise WriteError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):  # it has its name now, or was not made
            temporary.unlink()


def remove_temporary(folder: Path) -> None:
    """Remove what killed processes left in a folder that no process writes to."""
    for path in folder.glob(TEMPORARY.format("*", "*")):
        path.unlink(missing_ok=True)


def write_output(path: Path, content: bytes) -> None:
    """Write a file that a user has named; devices and pipes are written in place.

    Raises:
        WriteError: the file can't be written.
    """
    if not path.exists() or path.is_file():
        write_atomic(path, content)
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise WriteError(error.errno, error.strerror, str(path)) from error


def write_csv(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows as CSV; a field that a row lacks is left empty.

    Raises:
        WriteError: the file can't be written.
    """
    text = io.StringIO(newline="")
    longest_first = sorted(rows, key=len, reverse=True)
    names = dict.fromkeys(name for row in longest_first for name in row)
    writer = csv.DictWriter(text, fieldnames=list(names))
    writer.writeheader()
    writer.writerows(rows)
    write_output(path, text.getvalue().encode())
