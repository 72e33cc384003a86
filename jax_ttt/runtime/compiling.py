"""Programs that XLA compiles quickly where a run is short."""

import functools
from collections.abc import Callable, Sequence
from typing import Generic, Literal, ParamSpec, TypeVar

import jax

from jax_ttt.runtime import devices, streams

Level = Literal["0", "1"]
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
        level: Level = "1",
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
        if devices.current().platform != "cpu" or (known := _known()) is None:
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
            streams.tell(f"warning: compiling or training takes longer: {reason}")
        return index
    streams.tell(f"warning: compiling takes twice as long: {reason}")
    return None
