"""What the bits of a run depend on, and what has changed since it was saved."""

import jax
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.runtime import devices
from jax_ttt.training import reproducibility


def with_device(**changes):
    saved = reproducibility.describe_environment()
    device = saved["device"]
    assert isinstance(device, dict)
    return saved | {"device": device | changes}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("kind", "abacus", "device.kind: abacus -> "),
        ("platform", "abacus", "device.platform: abacus -> cpu"),
        ("platform_version", "abacus 2", "device.platform_version: abacus 2 -> cpu"),
        ("NPROC", "99", "threads: 99 -> "),
    ],
)
def test_a_change_that_may_change_the_bits_is_named(name, value, text):
    first, *_ = reproducibility.environment_differences(with_device(**{name: value}))
    assert first.startswith(text)


def test_another_version_of_a_library_is_named():
    saved = reproducibility.describe_environment()
    versions = saved["versions"]
    assert isinstance(versions, dict)
    earlier = saved | {"versions": versions | {"jax": "0.0.1"}}
    (text,) = reproducibility.environment_differences(earlier)
    assert text.startswith("jax: 0.0.1 -> ")


def test_the_cores_count_only_if_they_decide_the_threads(monkeypatch):
    monkeypatch.setenv("NPROC", "1")
    saved = with_device(cpu_count=99) | {"python": "4"}
    assert reproducibility.environment_differences(saved) == []
    gpu = {"platform": "gpu", "cpu_count": 2}
    monkeypatch.setattr(devices, "device_description", lambda: gpu)
    assert reproducibility.environment_differences(with_device(cpu_count=99)) == []


def test_another_generator_of_keys_is_refused():
    ours = reproducibility.describe_environment()
    assert str(jax.random.key_impl(jax.random.key(0))) in str(ours["random_numbers"])
    reproducibility.check_random_numbers(str(ours["random_numbers"]))
    reproducibility.check_random_numbers(None)  # as in settings made by hand
    with pytest.raises(Refused, match=r"of rbg, not partitionable, but those here"):
        reproducibility.check_random_numbers("rbg, not partitionable")
