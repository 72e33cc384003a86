"""Settings with which the tests' programs compile quickly; import this before jax_ttt.

Compilation takes nearly all of the tests' time. The settings hold for this process and
for the commands that tests start. `TESTS_AS_USERS=1` leaves them out, so that the
tests run what users run.
"""

import contextlib
import functools
import gc
import os
from importlib.metadata import version
from pathlib import Path

from jax_ttt.runtime import compiling

AS_USERS = os.environ.get("TESTS_AS_USERS") == "1"

_ROOT = Path(__file__).parents[1]
_PROGRAMS = Path(os.environ.get("TEST_PROGRAMS", _ROOT / ".test_programs"))
"""The cache of all workers and commands of the tests, never the user's. `make clean`
removes it. `.ci/run` sets `TEST_PROGRAMS` to a folder outside the checkout."""
CACHE = {
    "jax_enable_compilation_cache": True,
    "jax_compilation_cache_dir": str(_PROGRAMS / compiling.cache_folder().name),
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}
_OPTIMIZE_LITTLE = "jax_disable_most_optimizations"
SETTINGS = CACHE if AS_USERS else CACHE | {_OPTIMIZE_LITTLE: True}

_FLAGS = {
    "--xla_cpu_use_fusion_emitters=false": (0, 11),  # the older code generator
    "--xla_cpu_parallel_codegen_split_count=1": (0, 13),  # one part for each program
}
"""Flags with which XLA compiles in less CPU time, each with the first release of jaxlib
that lacks it: an unknown flag aborts the process."""
_MAX_MIB = 3000
"""Growth of a process after which its programs are dropped from memory."""
_after_dropping = [0.0]
"""MiB of the process when its programs were dropped last."""


def _set_up() -> None:
    """Set JAX up before `jax_ttt` is imported, which makes JAX find its devices."""
    os.environ |= {name.upper(): str(value) for name, value in SETTINGS.items()}
    if not AS_USERS:
        release = tuple(map(int, version("jaxlib").split(".")[:2]))
        flags = [flag for flag, end in _FLAGS.items() if release < end]
        others = os.environ.get("XLA_FLAGS", "").split()
        os.environ["XLA_FLAGS"] = " ".join([*others, *flags])
    import jax

    for name, value in SETTINGS.items():
        jax.config.update(name, value)
    # Eight virtual devices, for the tests of many; all others use the first.
    jax.config.update("jax_num_cpu_devices", 8)


@contextlib.contextmanager
def optimized():
    """Compile with optimizations, here and in the commands that are started meanwhile.

    This saves time in long trainings.
    """
    _optimize_little(False)
    try:
        yield
    finally:
        _optimize_little(not AS_USERS)


def _optimize_little(on):
    import jax

    jax.config.update(_OPTIMIZE_LITTLE, on)
    os.environ[_OPTIMIZE_LITTLE.upper()] = str(on)


@contextlib.contextmanager
def compiled():
    """Yield a list, to which the steps of compiling within the context are added."""
    import jax.monitoring

    steps = []

    def note(event, duration_secs, **kwargs):
        if event.startswith("/jax/core/compile/"):
            steps.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield steps
    finally:
        jax.monitoring.clear_event_listeners()


@functools.cache
def _trained(function, args, kwargs):
    with optimized():
        return function(*args, **dict(kwargs))


def train_once(function):
    """Return the training function; each training runs once per process."""

    @functools.wraps(function)
    def once(*args, **kwargs):
        args = tuple(tuple(x) if isinstance(x, list) else x for x in args)
        return _trained(function, args, tuple(sorted(kwargs.items())))

    return once


def keep_memory_bounded():
    """Drop all programs from memory if they use much of it; they are cached on disk."""
    import jax

    # Python keeps the memory of dropped programs, and the next programs use it.
    if _memory_mib() - _after_dropping[0] < _MAX_MIB:
        return
    jax.clear_caches()
    gc.collect()
    _after_dropping[0] = _memory_mib()


def _memory_mib():
    """Return the memory of the process in MiB; 0 where /proc is absent."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


_set_up()
