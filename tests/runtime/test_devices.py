"""The choice of a device, and the features of the processor."""

import re

import jax
import pytest

from jax_ttt.runtime import devices

HAS_AMX = devices.has_amx  # a fixture of all tests replaces it


@pytest.mark.parametrize(
    ("flags", "expected"), [("avx2 amx_bf16 amx_tile", True), ("avx512_bf16", False)]
)
def test_amx_is_read_from_the_flags_of_linux(monkeypatch, tmp_path, flags, expected):
    has_amx = HAS_AMX
    has_amx.cache_clear()
    file = tmp_path / "cpuinfo"
    file.write_text(f"processor : 0\nflags\t\t: fpu {flags}\n", encoding="utf-8")
    monkeypatch.setattr("sys.platform", "linux")
    assert has_amx(file) is expected
    assert has_amx(tmp_path / "none") is False
    has_amx.cache_clear()
    monkeypatch.setattr("sys.platform", "darwin")
    assert has_amx(file) is False


def test_the_chosen_device_is_the_one_in_use():
    with jax.default_device(None):  # restores the setting
        cpu = jax.devices("cpu")[0]
        assert devices.choose_device("cpu") == f"cpu ({cpu.device_kind})"
        assert devices.current() == cpu


def test_an_error_names_the_missing_device():
    with pytest.raises(devices.DeviceError, match="got 'abacus'") as refusal:
        devices.choose_device("abacus")
    assert "\n" not in str(refusal.value)
    (present,) = re.findall(r"this machine has \(([\w, ]+)\)", str(refusal.value))
    assert {jax.default_backend(), "cpu"} <= set(present.split(", "))


@pytest.mark.parametrize("name", ["jax_enable_x64", "jax_disable_jit"])
def test_settings_of_jax_that_prevent_training_are_refused(name):
    jax.config.update(name, True)
    try:
        with pytest.raises(devices.DeviceError, match=f"unset {name.upper()}"):
            devices.choose_device("auto")
    finally:
        jax.config.update(name, False)
