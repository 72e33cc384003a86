"""The flags of many devices and hosts; `test_refused.py` has the refused ones."""

import re

import pytest

from jax_ttt.config.device_flags import DeviceFlags, DistributedFlags
from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config

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


@pytest.mark.parametrize(
    ("field", "number", "multiples"),
    [
        ("num_envs", 1001, ("1,000", "1,008")),
        ("num_envs", 5, ("8",)),
        ("replay_capacity", 1001, ("1,000", "1,008")),
    ],
)
def test_games_and_moves_are_a_multiple_of_the_devices(field, number, multiples):
    config = Config.of(
        num_envs=64, replay_capacity=1024, replay_start=0, replay_batch=8
    )
    DeviceFlags(devices="8").check_shares(config)
    config = config.replace(**{field: number})
    for text in (None, "1", "all"):
        DeviceFlags(devices=text).check_shares(config)
    with pytest.raises(SettingError) as refusal:
        DeviceFlags(devices="8").check_shares(config)
    assert refusal.value.field == field
    assert {*multiples} <= {*re.findall(r"[\d,]*\d", refusal.value.rule)}
