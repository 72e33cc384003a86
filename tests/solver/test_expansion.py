"""Moves in many positions: batches, and batches over several devices."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from rule_player import RULE, reached

ENV = "connect_4x4"


@pytest.mark.slow
def test_eight_devices_find_the_same():
    mesh = Mesh(np.array(jax.devices()[:8]), ("devices",))
    over_all = NamedSharding(mesh, PartitionSpec("devices"))
    usual = reached(ENV, RULE, "first")
    split = reached(ENV, RULE, "first", sharding=over_all)
    assert split.losing_line == usual.losing_line
    for keys, wanted in zip(split.keys, usual.keys, strict=True):
        np.testing.assert_array_equal(keys, wanted)
    assert split.ends == usual.ends
