"""JAX's cache of compiled programs, in the user's cache folder.

Compiling takes most of a short run's time. Reading a program from the cache takes a
tenth of that.
"""

import functools
import hashlib
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Literal, ParamSpec, TypeVar

import jax
import platformdirs

from jax_ttt.runtime import devices, streams

_FLAGS = ("flags", "Features")
"""Names of the row in `/proc/cpuinfo` that lists a processor's features: x86, Arm."""


def use_program_cache(wanted: bool = True) -> None:
    """Switch JAX's cache of compiled programs on, or off if `wanted` is False.

    The cache is the folder that JAX is set to (`JAX_COMPILATION_CACHE_DIR`), or
    `cache_folder()` if there is none. If that can't be made, a line on stderr says why.
    Call it before the first computation.
    """
    if not wanted:
        jax.config.update("jax_enable_compilation_cache", False)
        return
    if not jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        path = cache_folder()
        try:
            # Only for this user: the programs in it are run.
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            streams.print_stderr(f"no compilation cache in {path}: {error.strerror}")
            return
        jax.config.update("jax_compilation_cache_dir", str(path))
    # By default JAX keeps only programs that took a second or more to compile.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def cache_folder() -> Path:
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


OptimizationLevel = Literal["0", "1"]
"""How much XLA optimizes. "0" compiles in a fifth of the time, for a program that runs
once; "1" in half the time, and an update then takes about 7 % longer."""
_LEVEL = "xla_backend_optimization_level"
_SECOND: tuple[dict[str, str | bool], ...] = (
    # The older code generator, which newer releases don't have: two thirds of the time.
    {"xla_cpu_use_fusion_emitters": False},
    # Small operations in turn, not several at once: an update takes 0.94 of the time.
    {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},
    {},
)
"""What is set beside the level: the first that this release of XLA knows."""

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Program(Generic[_Given, _Result]):
    """A function of arrays, compiled by `jax.jit` in one of two ways."""

    def __init__(
        self,
        function: Callable[_Given, _Result],
        static_argnames: Sequence[str] = (),
        donate_argnames: Sequence[str] = (),
        level: OptimizationLevel = "1",
    ) -> None:
        """Set the arguments of `jax.jit`, and the level of compiling quickly."""
        jit = functools.partial(
            jax.jit,
            function,
            static_argnames=static_argnames,
            donate_argnames=donate_argnames,
        )
        self._full = jit()
        self._quick = [
            jit(compiler_options={_LEVEL: level} | second) for second in _SECOND
        ]

    def jitted(self, quickly: bool = True) -> jax.stages.Wrapped:
        """Return the jit function that XLA compiles fully or, on a CPU, `quickly`.

        JAX's own setting `jax_disable_most_optimizations` has precedence.
        """
        if not quickly or jax.config.read("jax_disable_most_optimizations"):
            return self._full
        if devices.current_device().platform != "cpu" or (known := _known()) is None:
            return self._full
        return self._quick[known]

    def __call__(self, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        """Call the program, compiled quickly where that works."""
        return self.jitted()(*args, **kwargs)


@functools.cache
def _known() -> int | None:
    """Return the index in `_SECOND` of what XLA knows; None if it refuses the level.

    A line on stderr says if it refuses all that is set beside the level, or the level.
    """
    reason = ""
    for index, second in enumerate(_SECOND):
        try:
            jax.jit(
                lambda: 0, compiler_options={_LEVEL: "1"} | second
            ).lower().compile()
        except jax.errors.JaxRuntimeError as error:
            reason = str(error)
            continue
        if not second:
            streams.print_stderr(
                f"warning: compiling or training takes longer: {reason}"
            )
        return index
    streams.print_stderr(f"warning: compiling takes twice as long: {reason}")
    return None
