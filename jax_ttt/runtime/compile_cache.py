"""The cache of compiled programs, in the user's cache folder.

Compiling takes most of a short run's time. Reading a program from the cache takes a
tenth of that. Imports no JAX.
"""

import hashlib
import os
import platform
import stat
import sys
from pathlib import Path

from jax_ttt.runtime import streams

MAX_BYTES = 2 * 2**30
"""Size of a cache folder above which the files not used for longest are dropped."""
_FLAGS = ("flags", "Features")
"""Names of the row in `/proc/cpuinfo` that lists a processor's features: x86, Arm."""


def use(wanted: bool = True) -> bool:
    """Switch JAX's cache of compiled programs on, or off if `wanted` is False.

    The cache is the folder that JAX is set to (`JAX_COMPILATION_CACHE_DIR`), or
    `folder()` if there is none. The files of `kept_files` are in the same folder. If
    the folder is not available, a line on stderr says why. Returns whether programs
    are kept. Call it before the first computation.
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
        kept_files.drop_oldest(path, MAX_BYTES)
    _check_programs()
    # By default JAX keeps only programs that took a second or more to compile.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    used: str = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if "://" not in used:  # JAX also accepts folders in cloud storage
        kept_files.keep_in(Path(used))
    return True


class CheckedPrograms:
    """JAX's cache of compiled programs, as files with checksums.

    JAX never replaces a damaged file, and each process warns of it and compiles. It
    notices the damage by zlib's checksum. If the package `zstandard` is installed, JAX
    compresses with it, without a checksum: 1,777 of 2,152 flipped bits of a file gave
    another program. Here a damaged file counts as absent and is replaced. The checksum
    stands after JAX's entry, so JAX can read the files too.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def get(self, key: str) -> bytes | None:
        """Return the program of a key, or None."""
        from jax_ttt.runtime import kept_files

        return kept_files.read_checked(self._file(key))

    def put(self, key: str, value: bytes) -> None:
        """Keep a program, if the folder allows it."""
        from jax_ttt.runtime import kept_files

        kept_files.write_checked(self._file(key), value)

    def _file(self, key: str) -> Path:
        return self._path / f"{key}-cache"


def _check_programs() -> None:
    """Let JAX use `CheckedPrograms`, unless it is set up for another kind of cache."""
    import jax

    size = getattr(jax.config, "jax_compilation_cache_max_size", -1)
    checks = getattr(jax.config, "jax_compilation_cache_check_contents", False)
    used: str = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if size != -1 or checks or "://" in used:
        return
    try:  # JAX has no public way; without this one, its own cache is used
        from jax._src import compilation_cache as internal

        if callable(internal.get_file_cache):
            internal.get_file_cache = _checked_programs
    except (ImportError, AttributeError):
        return


def _checked_programs(path: str) -> tuple[CheckedPrograms, str]:
    return CheckedPrograms(path), path


def folder() -> Path:
    """Return the cache folder of this kind of processor.

    A compiled program may use instructions that other processors lack.
    """
    import platformdirs

    try:
        about = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
        kind = "".join(row for row in about.splitlines() if row.startswith(_FLAGS))
    except OSError:
        kind = platform.processor()
    kind = hashlib.sha256(f"{platform.machine()} {kind}".encode()).hexdigest()[:12]
    return platformdirs.user_cache_path("jax_ttt", appauthor=False) / f"compiled-{kind}"


def make_private(path: Path) -> None:
    """Make the folder for this user only, since the programs in it are run.

    The folder above may be a link, if it is the user's own; the folder itself may not.

    Raises:
        OSError: the folder can't be made; it, or the folder above, belongs to another
            user, or other users can write to it.
    """
    for folder in (path.parent, path):  # `mode` does not apply to further parents
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "nt":  # folders in the user's profile are private
        return
    for about in (path.parent.lstat(), path.parent.stat(), path.lstat()):
        if about.st_uid != os.getuid():
            raise PermissionError(0, "it belongs to another user")
        if about.st_mode & 0o022 and not stat.S_ISLNK(about.st_mode):
            raise PermissionError(0, "other users can write to it")
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise OSError(0, "not a folder")
    if not os.access(path, os.W_OK):
        raise PermissionError(0, "no permission to write to it")


def announce(seconds: int, kept: bool) -> None:
    """Let a terminal say that programs compile, as soon as they do.

    `seconds` are what that takes, about. `kept` says whether programs are kept.
    """
    if not sys.stderr.isatty():
        return
    from tqdm import tqdm

    from jax_ttt.runtime import compile_events

    text = f"compiling, about {seconds} s"

    def say() -> None:
        tqdm.write(f"{text} the first time; kept for the next", file=sys.stderr)

    if kept:
        compile_events.Notice(say)
    else:
        streams.tell(f"{text}; nothing is kept for the next time")
