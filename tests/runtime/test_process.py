"""The memory of the process."""

import numpy as np
import pytest

from jax_ttt.runtime import process


@pytest.mark.slow
def test_the_peak_memory_has_what_was_used():
    before = process.peak_mib()
    assert before is not None
    held = np.ones(2**24 + int(before) * 2**17)  # more than ever before, 8 bytes each
    after = process.peak_mib()
    assert after is not None
    assert held.nbytes / 2**20 < after < held.nbytes / 2**20 + before + 100
