"""What the bits of a run depend on, and what has changed since."""

from typing import Any

import jax
import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.training import environment as found


@pytest.mark.parametrize(
    ("part", "name", "value", "text"),
    [
        ("versions", "jaxlib", "0.0", "jaxlib: 0.0 -> "),
        ("device", "kind", "abacus", "device.kind: abacus -> "),
        ("device", "platform", "abacus", "device.platform: abacus -> cpu"),
        ("device", "NPROC", "99", "threads: 99 -> "),
    ],
)
def test_what_changed_is_named(part, name, value, text):
    about: dict[str, Any] = found.environment()
    changed = about | {part: about[part] | {name: value}}
    first, *_ = found.differences(changed)
    assert first.startswith(text)


def test_the_cores_count_only_if_nothing_else_sets_the_threads(monkeypatch):
    monkeypatch.setenv("NPROC", "1")
    about: dict[str, Any] = found.environment()
    cores: dict[str, Any] = about | {"device": about["device"] | {"cpu_count": 99}}
    assert found.differences(cores) == []
    about["python"] = "4"
    assert found.differences(about) == []


def test_the_cores_do_not_count_where_a_gpu_trains(monkeypatch):
    then, now = ({"platform": "gpu", "cpu_count": cores} for cores in (2, 99))
    monkeypatch.setattr(found.devices, "described", lambda: now)
    assert found.differences(found.environment() | {"device": then}) == []


def test_another_generator_of_keys_is_refused():
    about = found.environment()
    assert str(jax.random.key_impl(jax.random.key(0))) in str(about["random_numbers"])
    other = about | {"random_numbers": "rbg, not partitionable"}
    with pytest.raises(UsageError, match=r"of rbg, not partitionable, but those here"):
        found.check_random_numbers(other)
