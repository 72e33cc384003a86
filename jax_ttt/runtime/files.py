"""Writing files: the old file or the new one, never a part, and no planted link."""

import contextlib
import csv
import errno
import hashlib
import io
import os
import platform
import re
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

_TEMPORARY = re.compile(r"\.jax_ttt-([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{16}\.tmp")
"""The names of temporary files: the machine, the process, random digits."""
_WRITING: set[str] = set()
"""The names of the temporary files that this process is writing."""
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)
"""Errors of file systems that can't write a folder to disk by itself."""


class WriteError(OSError):
    """A file can't be written; the message names the file and the reason."""

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}"


def write_whole(
    path: Path, content: bytes, mode: int = 0o644, synced: bool = True
) -> None:
    """Write a file so that a crash leaves the old file or the new one, never a part.

    `mode` is the file's permissions, which the umask may reduce. If the path is a link,
    the link is replaced, not the file that it names. `synced` waits until the disk has
    the file; without it, a crash of the system may leave an empty file.

    Raises:
        WriteError: the file can't be written. The old one is unchanged, and no
            temporary file is left.
    """
    temporary = path.with_name(_temporary_name())
    _WRITING.add(temporary.name)
    try:
        _write_new(temporary, content, mode, synced)
        os.replace(temporary, path)
        if synced:
            _sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise WriteError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        _WRITING.discard(temporary.name)


def write_output(path: Path, content: bytes) -> None:
    """Write a file that a user has named; devices and pipes are written in place.

    Raises:
        WriteError: the file can't be written.
    """
    try:
        in_place = not stat.S_ISREG(path.stat().st_mode)
    except OSError:  # there is none yet
        in_place = False
    if not in_place:
        write_whole(path, content)
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise WriteError(error.errno, error.strerror, str(path)) from error


def to_append(path: Path, more: int = 0) -> TextIO:
    """Open a regular file to append to, and make it if it is absent.

    `more` are more flags of `os.open`. A link or a pipe raises `OSError`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | more
    # A pipe without a reader would block, and a link would name another file.
    flags |= _flags("NOFOLLOW", "NONBLOCK", "CLOEXEC")
    handle = os.open(path, flags, 0o644)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(handle, "a", encoding="utf-8")


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


def remove_leftovers(folder: Path) -> list[str]:
    """Remove the temporary files of processes that have ended; return their names.

    Files of other machines stay, since their processes can't be seen from here.
    """
    removed = []
    with contextlib.suppress(OSError):
        names = [entry.name for entry in os.scandir(folder) if _is_leftover(entry)]
        for name in sorted(names):
            with contextlib.suppress(OSError):
                (folder / name).unlink()
                removed.append(name)
    return removed


def locked(path: Path) -> TextIO:
    """Open a file to append to, and lock it until it is closed or the process ends.

    If the system or the file system has no locks, the file must not exist yet.

    Raises:
        BlockingIOError: another process has locked it.
        FileExistsError: it exists, and there are no locks.
        OSError: it can't be opened, or it is a link or no regular file.
    """
    try:
        file, new = to_append(path, os.O_EXCL), True
    except FileExistsError:
        file, new = to_append(path, 0), False
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
            why = "there are no locks here, so it can't be continued"
            raise FileExistsError(errno.EEXIST, why, str(path)) from None
    return file


def _flags(*names: str) -> int:
    """Return these flags of `os.open`; a system that lacks one does not need it."""
    return sum(getattr(os, f"O_{name}", 0) for name in names)


def _write_new(path: Path, content: bytes, mode: int, synced: bool) -> None:
    """Write a file that does not exist yet; a link of its name is an error."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    flags |= _flags("NOFOLLOW", "CLOEXEC", "BINARY")
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(content)
        file.flush()
        if synced:
            os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Wait until the disk has the names of the files in a folder."""
    if os.name == "nt":  # folders can't be opened there
        return
    try:
        handle = os.open(folder, os.O_RDONLY | _flags("DIRECTORY", "CLOEXEC"))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def _machine() -> str:
    """Return a digest of this machine's name: folders may be shared by several."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _temporary_name() -> str:
    return f".jax_ttt-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}.tmp"


def _is_leftover(entry: os.DirEntry[str]) -> bool:
    """Return whether a file is a temporary file of a process that has ended."""
    match = _TEMPORARY.fullmatch(entry.name)
    if match is None or match[1] != _machine():
        return False
    if not entry.is_file(follow_symlinks=False):
        return False
    process = int(match[2])
    if process == os.getpid():  # an earlier process had the same number
        return entry.name not in _WRITING
    return not _is_running(process)


def _is_running(process: int) -> bool:
    """Return whether there is a process of this number, or it can't be known."""
    if os.name == "nt":  # signal 0 is Ctrl-C there
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        return True
    return True
