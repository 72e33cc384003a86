"""Compiling with a chosen effort."""

from importlib.metadata import version
from typing import Literal

import jax

from jax_ttt.runtime import devices

Effort = Literal["least", "little", "full"]
"""How much XLA optimizes a program; less effort compiles faster and runs slower."""
_OPTIONS: dict[Effort, dict[str, str | bool]] = {
    "least": {
        "xla_backend_optimization_level": "0",
        "xla_llvm_disable_expensive_passes": True,
    },
    "little": {"xla_backend_optimization_level": "1"},
    "full": {},
}


def compiled(program: jax.stages.Lowered, effort: Effort) -> jax.stages.Compiled:
    """Compile a program, or read it from JAX's cache.

    On a CPU, compiling with `little` effort takes half as long as with `full`, and the
    program is about 7 % slower. `least` takes a fifth as long; use it for a program
    that runs once. JAX's setting `jax_disable_most_optimizations` means `least`.
    """
    if jax.config.read("jax_disable_most_optimizations"):
        effort = "least"  # our options would override it
    options = None
    release = tuple(map(int, version("jaxlib").split(".")[:2]))
    # XLA rejects unknown options.
    if devices.current().platform == "cpu" and release <= (0, 12):
        options = dict(_OPTIONS[effort])
        if options and release < (0, 11):
            options["xla_cpu_use_fusion_emitters"] = False  # the older code generator
        if effort == "little" and release >= (0, 10):
            # Small operations are faster one after another than several at once.
            options["xla_cpu_scheduler_type"] = "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
            options["xla_cpu_parallel_codegen_split_count"] = "8"  # each takes time
    return program.compile(compiler_options=options)
