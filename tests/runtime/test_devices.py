"""The choice of a device, and the features of the processor."""

import re

import jax
import pytest

from jax_ttt.runtime import devices

HAS_BFLOAT16 = devices.has_bfloat16  # a fixture of all tests replaces it


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("avx2 amx_bf16 amx_tile", True), ("avx512_bf16", True), ("avx512f bf16", False)],
)
def test_units_for_bfloat16_are_read_from_the_flags_of_linux(tmp_path, flags, expected):
    HAS_BFLOAT16.cache_clear()
    file = tmp_path / "cpuinfo"
    file.write_text(f"processor : 0\nflags\t\t: fpu {flags}\n", encoding="utf-8")
    assert HAS_BFLOAT16(file) is expected
    assert HAS_BFLOAT16(tmp_path / "none") is False


def test_the_chosen_device_is_the_one_in_use():
    with jax.default_device(None):  # restores the setting
        cpu = jax.devices("cpu")[0]
        assert devices.choose_device("cpu") == f"cpu ({cpu.device_kind})"
        assert devices.current_device() == cpu


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


def test_the_free_memory_is_the_least_of_all_limits(monkeypatch, tmp_path):
    monkeypatch.setattr(devices, "_GROUP", tmp_path)
    usual = devices.free_host_bytes()
    assert usual is not None
    assert 2**24 < usual < 2**50
    (tmp_path / "memory.current").write_text("1000\n")
    stat = "anon 7\ninactive_file 100\nactive_file 200\nother_inactive_file 9\n"
    (tmp_path / "memory.stat").write_text(stat)
    (tmp_path / "memory.max").write_text("max\n")
    free = devices.free_host_bytes()
    assert free is not None
    assert free > 2**24
    (tmp_path / "memory.max").write_text("5000\n")
    assert devices.free_host_bytes() == 5000 - 1000 + 300
    (tmp_path / "memory.max").write_text("600\n")
    assert devices.free_host_bytes() == 0


def test_a_limit_of_the_address_space_counts(monkeypatch):
    import resource

    listed = {"MemAvailable": 2**40, "VmSize": 1000}
    monkeypatch.setattr(devices, "_listed", lambda path, name: listed[name])
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1000 + 2**20, -1))
    assert devices.free_host_bytes() == 2**20


def test_without_lists_of_the_system_the_free_memory_is_unknown(monkeypatch, tmp_path):
    def unknown(path, name):
        raise OSError

    monkeypatch.setattr(devices, "_GROUP", tmp_path)
    monkeypatch.setattr(devices, "_listed", unknown)
    assert devices.free_host_bytes() is None


def test_jaxs_default_device_may_be_the_name_of_a_platform():
    with jax.default_device("cpu"):
        assert devices.current_device() == jax.devices("cpu")[0]
        free = devices.free_bytes()
        assert free is None or free > 2**24


def test_the_default_platform_of_the_environment_is_kept_by_auto(monkeypatch):
    cpu = jax.devices("cpu")[0]
    with jax.default_device(None):  # restores the setting
        monkeypatch.setenv("JAX_DEFAULT_DEVICE", "cpu")
        assert devices.choose_device("auto") == f"cpu ({cpu.device_kind})"
        monkeypatch.setenv("JAX_DEFAULT_DEVICE", "abacus")
        with pytest.raises(devices.DeviceError, match="JAX_DEFAULT_DEVICE") as refusal:
            devices.choose_device("auto")
        assert "\n" not in str(refusal.value)
        assert devices.choose_device("cpu") == f"cpu ({cpu.device_kind})"  # a flag wins
