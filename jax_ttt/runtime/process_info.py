"""This process: its memory, and the versions of its libraries. Imports no JAX."""

import atexit
import functools
import gc
import sys
from importlib.metadata import version

_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "pgx", "numpy")


def peak_mib() -> float | None:
    """Return the peak memory of this process in MiB; None on Windows."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def collect_garbage_rarely() -> None:
    """Collect garbage rarely, and not at exit.

    Imports and traces make many objects that stay, and each collection would look at
    all of them.
    """
    gc.set_threshold(500_000)
    atexit.register(gc.freeze)


@functools.cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    return {name: version(name) for name in _LIBRARIES}
