"""Programs that XLA compiles quickly where a run is short."""

import functools
from collections.abc import Callable, Sequence
from typing import Generic, ParamSpec, TypeVar

import jax

from jax_ttt.runtime import devices, streams

LEVEL = "xla_backend_optimization_level"
ONCE: dict[str, str | bool] = {LEVEL: "0"}
"""XLA's options on a CPU for a program that runs once. It compiles 5 times as fast."""
QUICK: dict[str, str | bool] = {
    LEVEL: "1",
    # Small operations are faster one after another than several at once.
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}
"""XLA's options on a CPU for a run of some seconds. Compiling takes half as long, and
training is about 7 % slower for the first option, and a fifth faster for the second."""

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Program(Generic[_Given, _Result]):
    """A function of arrays, compiled by `jax.jit` in one of two ways."""

    def __init__(
        self,
        function: Callable[_Given, _Result],
        static_argnames: Sequence[str] = (),
        donate_argnames: Sequence[str] = (),
        options: dict[str, str | bool] = QUICK,
    ) -> None:
        """Set the arguments of `jax.jit`, and XLA's `options` of compiling quickly."""
        jit = functools.partial(
            jax.jit,
            function,
            static_argnames=static_argnames,
            donate_argnames=donate_argnames,
        )
        self._full = jit()
        self._quick = jit(compiler_options=options)

    def jitted(self, quickly: bool = True) -> jax.stages.Wrapped:
        """Return the jit function that XLA compiles fully or, on a CPU, `quickly`.

        JAX's own setting `jax_disable_most_optimizations` has precedence.
        """
        if not quickly or jax.config.read("jax_disable_most_optimizations"):
            return self._full
        is_possible = devices.current().platform == "cpu" and _options_work()
        return self._quick if is_possible else self._full

    def __call__(self, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        """Call the program, compiled quickly where that works."""
        return self.jitted()(*args, **kwargs)


@functools.cache
def _options_work() -> bool:
    """Return whether this release of XLA has the options; if not, say so on stderr."""
    try:
        jax.jit(lambda: 0, compiler_options=QUICK).lower().compile()
    except jax.errors.JaxRuntimeError as error:
        streams.tell(f"warning: programs compile slowly: {error}")
        return False
    return True
