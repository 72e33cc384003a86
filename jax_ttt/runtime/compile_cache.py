"""Compiled programs kept from one process to the next, in the user's cache folder.

Compiling takes most of a short run's time; a program read back costs a tenth.
Imports no JAX.
"""

import hashlib
import os
import platform
import stat
from pathlib import Path

from jax_ttt.runtime import streams

_FLAGS = ("flags", "Features")
"""How Linux calls what a processor can do: x86's, Arm's."""


def use(wanted: bool = True) -> bool:
    """Make JAX keep what it compiles, or with `wanted` false neither keep nor read it.

    It is kept in the folder that JAX is set to (`JAX_COMPILATION_CACHE_DIR`), else in
    `folder()`; so are the files of `kept_files`. If that folder is not available, a
    line on stderr says why. Returns whether anything is kept. Call it before the first
    computation.
    """
    import jax

    from jax_ttt.runtime import kept_files

    kept_files.keep_in(None)
    if not wanted:
        jax.config.update("jax_enable_compilation_cache", False)
    if not jax.config.jax_enable_compilation_cache:  # type: ignore[attr-defined]
        return False
    if jax.config.jax_compilation_cache_dir is None:  # type: ignore[attr-defined]
        path = folder()
        try:
            make_private(path)
        except OSError as error:
            streams.tell(f"no compilation cache in {path}: {error.strerror}")
            return False
        jax.config.update("jax_compilation_cache_dir", str(path))
    # By default JAX keeps only what took a second or more.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    used: str = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if "://" not in used:  # JAX also knows folders in the cloud
        kept_files.keep_in(Path(used))
    return True


def folder() -> Path:
    """Return the folder for this kind of processor: programs are compiled for it."""
    import platformdirs

    try:
        about = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
        kind = "".join(row for row in about.splitlines() if row.startswith(_FLAGS))
    except OSError:
        kind = platform.processor()
    kind = hashlib.sha256(f"{platform.machine()} {kind}".encode()).hexdigest()[:12]
    return platformdirs.user_cache_path("jax_ttt", appauthor=False) / f"compiled-{kind}"


def make_private(path: Path) -> None:
    """Make the folder, for this user alone: what lies in it is run.

    Raises:
        OSError: it can't be made, or others could have written to it.
    """
    for folder in (path.parent, path):  # `mode` is not that of further parents
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "nt":  # the profile's folders are the user's own
        return
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise OSError(0, "not a folder")
    if about.st_uid != os.getuid():
        raise PermissionError(0, "it belongs to somebody else")
    if about.st_mode & 0o022:
        raise PermissionError(0, "others may write to it")
    if not os.access(path, os.W_OK):
        raise PermissionError(0, "not allowed to write there")
