"""What compiled programs need of a device's memory."""

import jax
import numpy as np
import pytest

from jax_ttt.runtime import devices

NUMBERS = jax.ShapeDtypeStruct((1000,), np.float32)


def lowered(**options):
    return jax.jit(lambda x: x + 1, **options).lower(NUMBERS)


def test_a_program_needs_its_arguments_and_its_results():
    assert devices.compile_and_measure(lowered()) == 4000 + 4000


def test_what_is_donated_counts_once():
    assert devices.compile_and_measure(lowered(donate_argnums=0)) == 4000


def test_more_than_the_free_memory_is_refused(monkeypatch):
    for free in (8000, None):  # None: unknown
        monkeypatch.setattr(devices, "free_bytes", lambda free=free: free)
        devices.check_fits(8000, "less")
    monkeypatch.setattr(devices, "free_bytes", lambda: 7999)
    with pytest.raises(MemoryError, match=r"needs about 0.0 GB, .* 0.0 GB are free: l"):
        devices.check_fits(8000, "less")
