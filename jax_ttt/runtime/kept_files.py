"""A cache of files for later processes, in the folder of JAX's own cache.

The key of a file is its name, our sources, the versions of the libraries, JAX's
settings and the device. A damaged file is computed again.
"""

import contextlib
import functools
import hashlib
import os
from pathlib import Path

import jax

from jax_ttt.runtime import devices, files, process

_DIGEST_BYTES = 32
_FOLDERS: list[Path] = []
"""The folder in which this process keeps files; empty if there is none."""


def keep_in(folder: Path | None) -> None:
    """Keep files in a folder from now on; None, the default, keeps none.

    Only commands call it: another program may replace our functions at run time, and
    the key of a file would not change.
    """
    _FOLDERS[:] = [] if folder is None else [folder]
    if _FOLDERS:
        _sources()  # before they are edited


def keeps() -> bool:
    """Return whether this process keeps files."""
    return bool(_FOLDERS)


def read(name: str) -> bytes | None:
    """Return the contents kept under a name, or None."""
    path = _path(name)
    return None if path is None else read_checked(path)


def keep(name: str, contents: bytes) -> None:
    """Keep the contents under a name, if this process keeps files."""
    path = _path(name)
    if path is None:
        return
    _, paths, times = _sources()
    with contextlib.suppress(OSError):  # a module was removed
        if _times(paths) == times:  # else sources were edited meanwhile
            write_checked(path, contents)


def read_checked(path: Path) -> bytes | None:
    """Return what `write_checked` wrote; None if it is absent or damaged."""
    try:
        kept = path.read_bytes()
        contents, digest = kept[:-_DIGEST_BYTES], kept[-_DIGEST_BYTES:]
        if hashlib.sha256(contents).digest() != digest:
            return None
    except OSError:
        return None
    with contextlib.suppress(OSError):  # a folder that is read-only
        os.utime(path)  # the files that were not used for longest are dropped first
    return contents


def write_checked(path: Path, contents: bytes) -> None:
    """Write contents and their SHA-256 after them, if the folder allows it."""
    with contextlib.suppress(OSError):  # the next process computes them again
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = contents + hashlib.sha256(contents).digest()
        files.write_whole(path, content, mode=0o600, synced=False)


def drop_oldest(folder: Path, most: int) -> int:
    """Remove the files that were not used for longest, if all have over `most` bytes.

    A tenth more is removed, so that not every process has to. Returns the number of
    files removed. Temporary files of processes that have ended are removed too.
    """
    files.remove_leftovers(folder)
    removed, found = 0, []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                about = entry.stat(follow_symlinks=False)
                found.append((about.st_mtime_ns, about.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    if total <= most:
        return 0
    for _, size, path in sorted(found):
        if total <= most * 0.9:
            break
        with contextlib.suppress(OSError):  # another process may have removed it
            os.unlink(path)
            removed += 1
        total -= size
    return removed


def _path(name: str) -> Path | None:
    """Return the path of a file, or None if this process keeps no files."""
    if not _FOLDERS or not (sources := _sources()[0]):
        return None
    device = devices.current()
    settings = {
        key: value
        for key, value in sorted(jax.config.values.items())
        if "cache" not in key and "log" not in key
    }
    made_of = (
        *(name, sources, process.versions(), settings, os.environ.get("XLA_FLAGS")),
        *(device.platform, device.device_kind, devices.has_bfloat16()),
    )
    digest = hashlib.sha256(repr(made_of).encode()).hexdigest()
    return _FOLDERS[0] / f"jax_ttt-{digest[:32]}"


@functools.cache
def _sources() -> tuple[str, list[Path], list[tuple[int, int]]]:
    """Return the digest of our modules ("" without any), their paths and `_times`."""
    package, digest = Path(__file__).parents[1], hashlib.sha256()
    paths = sorted(package.rglob("*.py"))
    times = _times(paths)
    for path in paths:
        digest.update(f"{path.relative_to(package)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest() if paths else "", paths, times


def _times(paths: list[Path]) -> list[tuple[int, int]]:
    """Return when each file was written, and when it was last changed in any way."""
    return [(s.st_mtime_ns, s.st_ctime_ns) for s in map(Path.stat, paths)]
