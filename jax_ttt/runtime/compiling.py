"""The cache of compiled programs, and the options with which a CPU's are compiled.

Compiling takes most of a short run's time. Reading a program from JAX's cache takes a
tenth of that. Where XLA optimizes less, compiling takes half of the time.
"""

import functools
import hashlib
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Literal, ParamSpec, TypeVar

import jax
import platformdirs

from jax_ttt.runtime import devices, standard_streams

_FEATURE_ROWS = ("flags", "Features")
"""Names of the row of `/proc/cpuinfo` with a processor's features: on x86, on Arm."""


def use_program_cache(enabled: bool = True) -> None:
    """Switch JAX's cache of compiled programs on or off, before the first computation.

    The cache is in the folder that `JAX_COMPILATION_CACHE_DIR` names, by default in
    `cache_folder()`. If that can't be made, a line on stderr says why, and programs are
    not cached.
    """
    if not enabled:
        jax.config.update("jax_enable_compilation_cache", False)
        return
    if not jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        path = cache_folder()
        try:
            # Only this user may write to it, as the programs in it are run.
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            standard_streams.print_stderr(
                f"no compilation cache in {path}: {error.strerror}"
            )
            return
        jax.config.update("jax_compilation_cache_dir", str(path))
    # By default JAX keeps only programs that took a second or more to compile.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def use_user_cache() -> None:
    """Use the program cache in a user's process, from the first call on.

    Every public function that computes calls this. Nothing changes if the process has a
    folder for JAX's cache already, or if JAX's cache is switched off.

    Raises:
        DeviceError: JAX computes with numbers of 64 bits.
    """
    devices.check_number_size()
    _use_cache_once()


@functools.cache
def _use_cache_once() -> None:
    if jax.config.values["jax_compilation_cache_dir"]:
        return
    if jax.config.values["jax_enable_compilation_cache"]:
        use_program_cache()


def cache_folder() -> Path:
    """Return the cache folder for this kind of processor.

    A compiled program may use instructions that other processors lack, so that a home
    folder on several machines needs a folder for each kind.
    """
    try:
        first_core = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
        rows = first_core.splitlines()
        features = "".join(row for row in rows if row.startswith(_FEATURE_ROWS))
    except OSError:
        features = platform.processor()
    processor = f"{platform.machine()} {features}".encode()
    digest = hashlib.sha256(processor).hexdigest()[:12]
    user_folder = platformdirs.user_cache_path("jax_ttt", appauthor=False)
    return user_folder / f"compiled-{digest}"


OptimizationLevel = Literal["0", "1"]
"""How much XLA optimizes. "1" compiles in half of the time. "0" compiles in a fifth of
the time, for a program that runs once."""
_CPU_OPTIONS: dict[str, str | bool] = {}
"""Options besides the level. Each release of XLA refuses options that it does not know,
and with each, sums are rounded in another way: so the weights depend on the release."""
if jax.__version_info__ < (0, 11, 1):
    # The older code generator compiles in two thirds of the time.
    _CPU_OPTIONS["xla_cpu_use_fusion_emitters"] = False
else:
    # Small operations one after the other, not several at once: an update takes 0.94
    # of the time.
    _CPU_OPTIONS["xla_cpu_scheduler_type"] = "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


class Program(Generic[_Params, _Result]):
    """A function of arrays that `jax.jit` compiles, on a CPU with fewer optimizations.

    The weights after training are bit for bit those of all optimizations.
    """

    def __init__(
        self,
        function: Callable[_Params, _Result],
        static_argnames: Sequence[str] = (),
        level: OptimizationLevel = "1",
    ) -> None:
        """Set the static arguments, as of `jax.jit`, and the level on a CPU."""
        jit = functools.partial(jax.jit, function, static_argnames=static_argnames)
        self._plain = jit()
        options = {"xla_backend_optimization_level": level} | _CPU_OPTIONS
        self._on_cpu = jit(compiler_options=options)

    def jitted(self) -> jax.stages.Wrapped:
        """Return the function that `jax.jit` returns, for the device in use.

        JAX's own setting `jax_disable_most_optimizations` has precedence.
        """
        if jax.config.read("jax_disable_most_optimizations"):
            return self._plain
        on_cpu = devices.current_device().platform == "cpu"
        return self._on_cpu if on_cpu else self._plain

    def __call__(self, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        """Call the program."""
        return self.jitted()(*args, **kwargs)
