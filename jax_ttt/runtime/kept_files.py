"""What a process works out once and keeps for the next one, beside the programs that
JAX keeps.

A file is found again by all that it was made from: its name, our sources, the versions
of the libraries, JAX's settings and the device. One that is not whole is not used.
"""  # noqa: D205

import contextlib
import functools
import hashlib
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import jax

from jax_ttt.runtime import devices, files

_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "pgx", "numpy")
_DIGEST_BYTES = 32
_folder: Path | None = None
"""Where this process keeps files."""


def keep_in(folder: Path | None) -> None:
    """Keep files in a folder from now on, or with None nowhere: that is the default.

    For commands alone: in a process of somebody else our functions may be replaced by
    others, which no file would tell.
    """
    global _folder
    _folder = folder


def read(name: str) -> bytes | None:
    """Return what was kept under a name, or None."""
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
    """Keep the contents under a name, if this process keeps anything."""
    path = _path(name)
    if path is None:
        return
    with contextlib.suppress(OSError):  # the next process works it out again
        files.write_whole(path, hashlib.sha256(contents).digest() + contents)


def _path(name: str) -> Path | None:
    """Return where to keep it, or None."""
    if _folder is None:
        return None
    device = devices.current()
    settings = {
        key: value
        for key, value in sorted(jax.config.values.items())
        if "cache" not in key and "log" not in key
    }
    made_of = (
        *(name, _sources(), _versions(), settings, os.environ.get("XLA_FLAGS")),
        *(device.platform, device.device_kind, devices.has_amx()),
    )
    digest = hashlib.sha256(repr(made_of).encode()).hexdigest()
    return _folder / f"jax_ttt-{digest[:32]}"


@functools.cache
def _sources() -> str:
    """Return the digest of all modules of the package."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _versions() -> dict[str, str]:
    found = {}
    for library in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found[library] = version(library)
    return found
