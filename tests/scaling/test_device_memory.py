"""What compiled programs need of a device's memory."""

import jax
import numpy as np
import pytest

from jax_ttt.runtime import devices
from jax_ttt.scaling import device_memory

NUMBERS = jax.ShapeDtypeStruct((1000,), np.float32)


def compiled(**options):
    return jax.jit(lambda x: x + 1, **options).lower(NUMBERS).compile()


def test_a_program_needs_its_arguments_and_its_results():
    assert device_memory.num_bytes(compiled()) == 4000 + 4000


def test_what_is_donated_counts_once():
    assert device_memory.num_bytes(compiled(donate_argnums=0)) == 4000


def test_the_largest_program_must_fit(monkeypatch):
    programs = [compiled(donate_argnums=0), compiled()]
    for free in (8000, None):  # None: unknown
        monkeypatch.setattr(devices, "free_bytes", lambda free=free: free)
        device_memory.check_fits(programs, "less")
    monkeypatch.setattr(devices, "free_bytes", lambda: 7999)
    with pytest.raises(MemoryError, match=r"needs about 0.0 GB, .* 0.0 GB are free: l"):
        device_memory.check_fits(programs, "less")
