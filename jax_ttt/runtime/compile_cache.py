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
    # By default JAX keeps only programs that took a second or more to compile.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    used: str = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if "://" not in used:  # JAX also accepts folders in cloud storage
        kept_files.keep_in(Path(used))
    return True


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

    Raises:
        OSError: the folder can't be made, or other users can write to it.
    """
    for folder in (path.parent, path):  # `mode` does not apply to further parents
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "nt":  # folders in the user's profile are private
        return
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise OSError(0, "not a folder")
    if about.st_uid != os.getuid():
        raise PermissionError(0, "it belongs to another user")
    if about.st_mode & 0o022:
        raise PermissionError(0, "other users can write to it")
    if not os.access(path, os.W_OK):
        raise PermissionError(0, "no permission to write to it")


def announce(seconds: int, kept: bool) -> None:
    """Let a terminal say that programs compile, as soon as they do.

    `seconds` are what that takes, about. `kept` says whether programs are kept.
    """
    from tqdm import tqdm

    from jax_ttt.runtime import compile_events

    text, terminal = f"compiling, about {seconds} s", sys.stderr.isatty()

    def say() -> None:
        if terminal and kept:
            tqdm.write(f"{text} the first time; kept for the next", file=sys.stderr)

    compile_events.Notice(say)
    if terminal and not kept:
        streams.tell(f"{text}; nothing is kept for the next time")
