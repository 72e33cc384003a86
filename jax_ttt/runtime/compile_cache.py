"""JAX's cache of compiled programs, in the user's cache folder.

Compiling takes most of a short run's time. Reading a program from the cache takes a
tenth of that.
"""

import hashlib
import platform
from pathlib import Path

import jax
import platformdirs

from jax_ttt.runtime import streams

_FLAGS = ("flags", "Features")
"""Names of the row in `/proc/cpuinfo` that lists a processor's features: x86, Arm."""


def use(wanted: bool = True) -> None:
    """Switch JAX's cache of compiled programs on, or off if `wanted` is False.

    The cache is the folder that JAX is set to (`JAX_COMPILATION_CACHE_DIR`), or
    `folder()` if there is none. If that can't be made, a line on stderr says why. Call
    it before the first computation.
    """
    if not wanted:
        jax.config.update("jax_enable_compilation_cache", False)
        return
    if not jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        path = folder()
        try:
            # Only for this user: the programs in it are run.
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            streams.tell(f"no compilation cache in {path}: {error.strerror}")
            return
        jax.config.update("jax_compilation_cache_dir", str(path))
    # By default JAX keeps only programs that took a second or more to compile.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def folder() -> Path:
    """Return the cache folder of this kind of processor.

    A compiled program may use instructions that other processors lack.
    """
    try:
        about = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
        kind = "".join(row for row in about.splitlines() if row.startswith(_FLAGS))
    except OSError:
        kind = platform.processor()
    kind = hashlib.sha256(f"{platform.machine()} {kind}".encode()).hexdigest()[:12]
    return platformdirs.user_cache_path("jax_ttt", appauthor=False) / f"compiled-{kind}"
