"""A cache of files for later processes, in the folder of JAX's own cache.

The key of a file is its name, our sources, the versions of the libraries, JAX's
settings and the device. A damaged file is ignored.
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


def read(name: str) -> bytes | None:
    """Return the contents kept under a name, or None."""
    path = _path(name)
    if path is None:
        return None
    try:
        kept = path.read_bytes()
    except OSError:
        return None
    digest, contents = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
    return contents if hashlib.sha256(contents).digest() == digest else None


def keep(name: str, contents: bytes) -> None:
    """Keep the contents under a name, if this process keeps files."""
    path = _path(name)
    if path is None or _digest() != _sources():  # sources were edited meanwhile
        return
    with contextlib.suppress(OSError):  # the next process computes it again
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.write_whole(path, hashlib.sha256(contents).digest() + contents)


def _path(name: str) -> Path | None:
    """Return the path of a file, or None if this process keeps no files."""
    if not _FOLDERS or not _sources():
        return None
    device = devices.current()
    settings = {
        key: value
        for key, value in sorted(jax.config.values.items())
        if "cache" not in key and "log" not in key
    }
    made_of = (
        *(name, _sources(), process.versions(), settings, os.environ.get("XLA_FLAGS")),
        *(device.platform, device.device_kind, devices.has_amx()),
    )
    digest = hashlib.sha256(repr(made_of).encode()).hexdigest()
    return _FOLDERS[0] / f"jax_ttt-{digest[:32]}"


@functools.cache
def _sources() -> str:
    """Return the digest of the sources that this process runs."""
    return _digest()


def _digest() -> str:
    """Return the digest of all modules of the package; empty if there are none."""
    package = Path(__file__).parents[1]
    digest, paths = hashlib.sha256(), sorted(package.rglob("*.py"))
    for path in paths:
        digest.update(f"{path.relative_to(package)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest() if paths else ""
