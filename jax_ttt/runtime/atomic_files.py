"""Files: reading at most a number of bytes, and writing that leaves no partial file."""

import contextlib
import csv
import io
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from jax_ttt.config.errors import Refused

TEMPORARY = ".{}.{}.tmp"
"""The name of the file to which new content is written before it replaces a file. Its
places are for the name of that file and for the number of the process."""


class UnreadableError(ValueError):
    """A file can't be read, or is not one to read; the message says why."""


class WriteError(OSError):
    """A file can't be written; the message names the file and the reason."""

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}"


def check_readable(path: Path, max_bytes: int) -> None:
    """Raise `UnreadableError` unless a path is a regular file of at most `max_bytes`.

    The file is not opened: opening a pipe would wait, a device could act on it.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise UnreadableError(getattr(error, "strerror", None) or str(error)) from None
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError("not a regular file")
    if status.st_size > max_bytes:
        raise UnreadableError(f"larger than {max_bytes:,} bytes")


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Return the contents of a regular file of at most `max_bytes`.

    Raises:
        UnreadableError: the file does not exist, can't be read or is too large.
    """
    check_readable(path, max_bytes)
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(error.strerror or repr(error)) from None


def read_lines(path: Path, max_bytes: int) -> list[bytes]:
    """Return the lines of a file that grows by whole lines, such as `metrics.jsonl`.

    An incomplete last one, of a process that was killed, is left out.

    Raises:
        UnreadableError: the file does not exist, can't be read or is too large.
    """
    return read_bounded(path, max_bytes).split(b"\n")[:-1]


def append_lines(path: Path, lines: Iterable[str], *, to_disk: bool) -> None:
    """Append lines to a file; with `to_disk` they are on the disk at the return.

    Raises:
        WriteError: they can't be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            if to_disk:
                os.fsync(file.fileno())
    except OSError as error:
        raise WriteError(error.errno, error.strerror, str(path)) from error


def check_output_path(flag: str, path: Path | None) -> None:
    """Raise `Refused`, before any work, if a path can't be that of a file to write."""
    if path is None:
        return
    try:
        if not path.parent.is_dir():
            raise Refused(f"{flag} {path}: no folder {path.parent}")
        if path.is_dir():
            raise Refused(f"{flag} {path}: a folder, not a file")
        if not os.access(path.parent, os.W_OK):
            raise Refused(f"{flag} {path}: no permission to write to {path.parent}")
    except OSError as error:
        raise Refused(f"{flag} {path}: {error.strerror}") from None


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
        with contextlib.suppress(OSError):  # it was renamed, or never opened
            temporary.unlink()


def remove_temporary(folder: Path) -> None:
    """Remove the temporary files of killed processes from a folder.

    No process may be writing to the folder.
    """
    for path in folder.glob(TEMPORARY.format("*", "*")):
        path.unlink(missing_ok=True)


def write_output(path: Path, content: bytes) -> None:
    """Write a file that a user names, which may be a device or a pipe.

    These are written in place, as replacing them would turn them into plain files.

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
    """Write rows as CSV, with empty fields for names that a row lacks.

    Raises:
        WriteError: the file can't be written.
    """
    text = io.StringIO(newline="")
    longest_first = sorted(rows, key=len, reverse=True)
    # The row with most fields gives the order of the columns.
    names = dict.fromkeys(name for row in longest_first for name in row)
    writer = csv.DictWriter(text, fieldnames=list(names))
    writer.writeheader()
    writer.writerows(rows)
    write_output(path, text.getvalue().encode())
