"""What programs need of a device's memory."""

import jax

from jax_ttt.runtime import devices


def compile_and_measure(program: jax.stages.Lowered) -> int:
    """Compile a program, and return about how many bytes of device memory it needs."""
    used = program.compile().memory_analysis()
    if used is None:
        return 0
    given = used.argument_size_in_bytes + used.output_size_in_bytes
    # What is donated is counted in both.
    return given + used.temp_size_in_bytes - used.alias_size_in_bytes


def check_fits(needed: int, remedy: str) -> None:
    """Raise `MemoryError` if the device has fewer bytes free than are `needed`."""
    free = devices.free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"out of memory: this needs about {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free: {remedy}"
        )
