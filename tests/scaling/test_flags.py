"""The flags of many devices and hosts: what fits together."""

import re

import pytest

from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.settings import Config
from jax_ttt.scaling.flags import Devices, Spread

ALL = {"coordinator": "10.0.0.1:1234", "num_processes": 4, "process_id": 3}


@pytest.mark.parametrize(
    "flags",
    [
        {},
        *({"devices": text} for text in ("1", "8", "all")),
        {"distributed": True},
        {"distributed": True, "devices": "all"},
        {"distributed": True, **ALL},
        {"distributed": True, **ALL, "coordinator": "[::1]:65535"},
    ],
)
def test_what_fits_together_is_accepted(flags):
    Spread(**flags).check_spread()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        *(
            (
                {"devices": text},
                f"devices must be a number from 1, or all, got '{text}'",
            )
            for text in ("0", "-1", "2.5", "", "²", "every", "1000000")
        ),
        ({"coordinator": "a:1"}, "coordinator must be used with --distributed"),
        ({"process_id": 0}, "process_id must be used with --distributed"),
        ({"distributed": True, "devices": "2"}, "devices must be all, or left out"),
        (
            {"distributed": True, "coordinator": "a:1"},
            "--coordinator needs --num-processes and --process-id too",
        ),
        (
            {"distributed": True, "num_processes": 2, "process_id": 0},
            "--num-processes needs --coordinator too",
        ),
        *(
            (
                {"distributed": True, **ALL, "coordinator": text},
                f"coordinator must be HOST:PORT, got '{text}'",
            )
            for text in ("host", "host:", ":80", "host:0", "host:65536", "host:-1")
        ),
        (
            {"distributed": True, **ALL, "process_id": 4},
            "process_id must be less than --num-processes 4, got 4",
        ),
    ],
)
def test_all_else_is_refused(flags, said):
    with pytest.raises(Refused) as found:
        Spread(**flags).check_spread()
    assert str(found.value).startswith(said)


@pytest.mark.parametrize(
    ("flags", "is_spread"),
    [({}, False), ({"devices": "1"}, True), ({"distributed": True}, True)],
)
def test_either_flag_spreads_the_work(flags, is_spread):
    assert Spread(**flags).is_spread is is_spread


@pytest.mark.parametrize(
    ("field", "number", "near"),
    [
        ("num_envs", 100, ("96", "104")),
        ("num_envs", 1001, ("1,000", "1,008")),
        ("num_envs", 5, ("8",)),
        ("replay_capacity", 1001, ("1,000", "1,008")),
    ],
)
def test_games_and_moves_are_a_multiple_of_the_devices(field, number, near):
    config = Config.of(
        num_envs=64, replay_capacity=1024, replay_start=0, replay_batch=8
    )
    Devices(devices="8").check_shares(config)
    config = config.replace(**{field: number})
    for text in (None, "1", "all"):
        Devices(devices=text).check_shares(config)
    with pytest.raises(SettingError) as refusal:
        Devices(devices="8").check_shares(config)
    assert refusal.value.field == field
    assert set(near) <= set(re.findall(r"[\d,]*\d", refusal.value.rule))
