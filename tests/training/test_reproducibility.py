"""What the bits of a run depend on, and what has changed since it was saved.

`test_resume.py` has the refusal of other random numbers.
"""

import pytest

from jax_ttt.runtime import devices
from jax_ttt.training import reproducibility


def differences(part, **changes):
    """Return the texts on a run that was saved with these changes of a part."""
    saved = reproducibility.describe_environment()
    fields = saved[part]
    assert isinstance(fields, dict)
    return reproducibility.environment_differences(saved | {part: fields | changes})


@pytest.mark.parametrize(
    ("part", "name", "value", "text"),
    [
        ("device", "kind", "abacus", "device.kind: abacus -> "),
        ("device", "platform", "abacus", "device.platform: abacus -> cpu"),
        ("device", "platform_version", "2", "device.platform_version: 2 -> cpu"),
        ("device", "NPROC", "99", "threads: 99 -> "),
        ("versions", "jax", "0.0.1", "jax: 0.0.1 -> "),
    ],
)
def test_a_change_that_may_change_the_bits_is_named(part, name, value, text):
    assert differences(part, **{name: value})[0].startswith(text)


def test_settings_made_by_hand_name_no_random_numbers():
    reproducibility.check_random_numbers(None)


def test_the_cores_count_only_if_they_decide_the_threads(monkeypatch):
    monkeypatch.setenv("NPROC", "1")
    assert differences("device", cpu_count=99) == []
    gpu = {"platform": "gpu", "cpu_count": 2}
    monkeypatch.setattr(devices, "device_description", lambda: gpu)
    assert differences("device", cpu_count=99) == []
