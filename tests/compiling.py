"""Compilation settings and the cache of the tests' programs.

Compilation takes nearly all of the tests' time. Import this module before JAX: it sets
JAX up for this process and for the commands that tests start.
"""

import contextlib
import ctypes
import functools
import gc
import importlib
import os
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jax_ttt.runtime import compile_cache, process

# The many objects that imports make stay; conftest.py turns the collector on again.
gc.disable()

_ROOT = Path(__file__).parents[1]
_KEPT = Path(os.environ.get("TEST_PROGRAMS", _ROOT / ".test_programs"))
"""The cache of all workers and commands of the tests, never the user's. `make clean`
removes it. `.ci/run` sets `TEST_PROGRAMS` to a folder outside the checkout."""
SETTINGS = {
    "jax_enable_compilation_cache": True,
    "jax_compilation_cache_dir": str(_KEPT / compile_cache.folder().name),
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_disable_most_optimizations": True,
}
os.environ |= {name.upper(): str(value) for name, value in SETTINGS.items()}

# Eight virtual devices, for the tests of many; all others use the first.
os.environ["JAX_NUM_CPU_DEVICES"] = "8"
if "jax" in sys.modules:  # a plugin of pytest has imported it, and it has not computed
    sys.modules["jax"].config.update("jax_num_cpu_devices", 8)

# Even if Python writes no bytecode: compiling all sources and rewriting all tests'
# assertions takes 9 s in each worker.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(_KEPT / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

_FLAGS = {
    "--xla_cpu_use_fusion_emitters=false": (0, 11),  # the older code generator
    "--xla_cpu_parallel_codegen_split_count=1": (0, 13),  # one part for each program
}
"""Flags with which XLA compiles in less CPU time, each with the first release of jaxlib
that does not get it: an unknown flag aborts the process."""
_RELEASE = tuple(map(int, version("jaxlib").split(".")[:2]))
_flags = os.environ.get("XLA_FLAGS", "").split()
# Each only once, since flags are part of a program's key in the cache, and the workers
# of xdist inherit the flags.
_own = [flag for flag, end in _FLAGS.items() if (0, 6) <= _RELEASE < end]
os.environ["XLA_FLAGS"] = " ".join([*(x for x in _flags if x not in _FLAGS), *_own])

_MOST_MIB = 1050


class _Contexts(threading.local):
    """The MLIR context of each thread.

    JAX makes one for each program that it lowers, which takes 4 ms.
    """

    kept = None


_contexts = _Contexts()


def set_up():
    """Set JAX up; a plugin of pytest may have imported JAX before."""
    import jax

    for name, value in SETTINGS.items():
        jax.config.update(name, value)
    mlir: Any = importlib.import_module("jax._src.interpreters.mlir")
    make = mlir.make_ir_context

    def context():
        if mlir.ir.Context.current is not None:  # one program is lowered within another
            return make()
        _contexts.kept = _contexts.kept or make()
        return _contexts.kept

    mlir.make_ir_context = context
    os.environ.pop("JAX_NUM_CPU_DEVICES", None)  # not for the commands of tests


@contextlib.contextmanager
def optimized():
    """Compile with optimizations, here and in the commands that are started meanwhile.

    This saves time in long trainings.
    """
    _optimize_little(False)
    try:
        yield
    finally:
        _optimize_little(True)


def _optimize_little(on):
    import jax

    from jax_ttt.training import programs

    name = "jax_disable_most_optimizations"
    jax.config.update(name, on)
    os.environ[name.upper()] = str(on)
    programs._compiling.cache_clear()  # its key does not include the setting


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
    """Drop all programs from memory if they use too much; they are cached on disk."""
    import jax

    from jax_ttt.scaling import device_memory
    from jax_ttt.training import programs

    if _memory_mib() < _MOST_MIB:
        return
    programs._compiling.cache_clear()
    device_memory.num_bytes.cache_clear()
    jax.clear_caches()
    _contexts.kept = None
    gc.collect()
    gc.freeze()  # the next collection skips what is still used
    with contextlib.suppress(OSError, AttributeError):  # return the memory to the OS
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _memory_mib():
    """Return the memory of the process in MiB; without /proc, its peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return process.peak_mib() or 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
