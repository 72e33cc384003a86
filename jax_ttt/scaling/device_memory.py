"""What compiled programs need of a device's memory."""

import functools
from collections.abc import Iterable

import jax

from jax_ttt.runtime import devices


@functools.cache
def num_bytes(program: jax.stages.Compiled) -> int:
    """Return about how many bytes of device memory a program needs."""
    used = program.memory_analysis()
    if used is None:
        return 0
    given = used.argument_size_in_bytes + used.output_size_in_bytes
    # What is donated is counted in both.
    return given + used.temp_size_in_bytes - used.alias_size_in_bytes


def check_fits(compiled: Iterable[jax.stages.Compiled], remedy: str) -> None:
    """Raise `MemoryError` if the device has less memory free than a program needs."""
    needed, free = max(map(num_bytes, compiled)), devices.free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"out of memory: this needs about {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free: {remedy}"
        )
