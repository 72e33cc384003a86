"""The flags of many devices and hosts; `test_refused.py` has the refused ones."""

import pytest

from jax_ttt.config.shared_flags import DistributedFlags

CLUSTER = {"coordinator": "[::1]:65535", "num_processes": 4, "process_id": 3}


@pytest.mark.parametrize(
    ("flags", "is_spread"),
    [
        ({}, False),
        ({"devices": "8"}, True),
        ({"distributed": True}, True),
        ({"distributed": True, "devices": "all", **CLUSTER}, True),
    ],
)
def test_flags_say_whether_several_devices_may_be_used(flags, is_spread):
    assert DistributedFlags(**flags).is_spread is is_spread
