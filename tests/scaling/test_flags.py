"""The flags of many devices and hosts; `test_refused.py` has what does not fit."""

import pytest

from jax_ttt.scaling.flags import Spread

ALL = {"coordinator": "10.0.0.1:1234", "num_processes": 4, "process_id": 3}


@pytest.mark.parametrize(
    ("flags", "is_spread"),
    [
        ({}, False),
        *(({"devices": text}, True) for text in ("1", "8", "all")),
        ({"distributed": True}, True),
        ({"distributed": True, "devices": "all"}, True),
        ({"distributed": True, **ALL}, True),
        ({"distributed": True, **ALL, "coordinator": "[::1]:65535"}, True),
    ],
)
def test_what_fits_together_is_accepted(flags, is_spread):
    spread = Spread(**flags)
    spread.check_spread()
    assert spread.is_spread is is_spread
