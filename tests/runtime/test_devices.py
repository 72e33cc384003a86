"""The choice of a device, its memory, and the features of the processor."""

import functools
import re

import jax
import pytest
import quick

from jax_ttt.runtime import devices

has_bfloat16 = devices.has_bfloat16  # a fixture of all tests replaces it


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("avx2 amx_bf16 amx_tile", True), ("avx512_bf16", True), ("avx512f bf16", False)],
)
def test_units_for_bfloat16_are_read_from_the_flags_of_linux(tmp_path, flags, expected):
    has_bfloat16.cache_clear()
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor : 0\nflags\t\t: fpu {flags}\n", encoding="utf-8")
    assert has_bfloat16(path) is expected
    assert has_bfloat16(tmp_path / "none") is False


def test_the_device_is_that_of_the_flag_or_of_the_environment(monkeypatch):
    cpu = jax.devices("cpu")[0]
    name = f"cpu ({cpu.device_kind})"
    with jax.default_device(None):  # restores the setting
        assert devices.choose_device("cpu") == name
        assert devices.current_device() == cpu
        monkeypatch.setenv("JAX_DEFAULT_DEVICE", "cpu")
        assert devices.choose_device("auto") == name
        monkeypatch.setenv("JAX_DEFAULT_DEVICE", "abacus")
        with pytest.raises(devices.DeviceError, match="JAX_DEFAULT_DEVICE must be a"):
            devices.choose_device("auto")
        assert devices.choose_device("cpu") == name  # the flag has precedence
    with jax.default_device("cpu"):  # the setting may be the name of a platform
        assert devices.current_device() == cpu


@pytest.fixture
def use_by_default():
    """Return a function that sets JAX's device, until the end of the test."""
    before = jax.config.jax_default_device  # type: ignore[attr-defined]
    yield functools.partial(jax.config.update, "jax_default_device")
    jax.config.update("jax_default_device", before)


def test_the_device_in_use_stays_and_compiles_no_program_again(use_by_default):
    program = jax.jit(lambda x: x + 1)
    use_by_default(None)
    program(1)
    with quick.compiled() as steps:
        devices.choose_device(jax.local_devices()[0].platform)
        program(1)
    assert steps == []


def test_the_device_is_changed_also_from_one_that_the_machine_lacks(use_by_default):
    first, second = jax.devices("cpu")[:2]
    for device in (second, "tpu"):
        use_by_default(device)
        devices.choose_device("cpu")
        assert devices.current_device() == first


def test_an_error_names_the_missing_device_and_those_that_are_present():
    with pytest.raises(devices.DeviceError, match="got 'abacus'") as refusal:
        devices.choose_device("abacus")
    assert "\n" not in str(refusal.value)
    (kinds,) = re.findall(r"this machine has \(([\w, ]+)\)", str(refusal.value))
    assert {jax.default_backend(), "cpu"} <= {*kinds.split(", ")}


@pytest.mark.parametrize("name", ["jax_enable_x64", "jax_disable_jit"])
def test_settings_of_jax_that_prevent_training_are_refused(name):
    jax.config.update(name, True)
    try:
        with pytest.raises(devices.DeviceError, match=f"unset {name.upper()}"):
            devices.choose_device("auto")
    finally:
        jax.config.update(name, False)


def test_the_free_memory_is_the_least_of_the_machines_and_its_containers(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(devices, "_CGROUP_FOLDER", tmp_path)
    rows = "anon 7\ninactive_file 100\nactive_file 200\nother_inactive_file 9\n"
    (tmp_path / "memory.stat").write_text(rows)
    (tmp_path / "memory.current").write_text("1000\n")
    for limit, low, high in (
        ("max", 2**24, 2**50),
        ("5000", 5000 - 1000 + 300, 5000 - 1000 + 300),
        ("600", 0, 0),
    ):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        free = devices.free_host_bytes()
        assert free is not None
        assert low <= free <= high


def test_a_limit_of_the_address_space_counts(monkeypatch):
    import resource

    sizes = {"MemAvailable": 2**40, "VmSize": 1000}
    monkeypatch.setattr(devices, "_listed_bytes", lambda path, name: sizes[name])
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1000 + 2**20, -1))
    assert devices.free_host_bytes() == 2**20


def test_without_lists_of_the_system_the_free_memory_is_unknown(monkeypatch, tmp_path):
    def absent(path, name):
        raise OSError

    monkeypatch.setattr(devices, "_CGROUP_FOLDER", tmp_path)
    monkeypatch.setattr(devices, "_listed_bytes", absent)
    assert devices.free_host_bytes() is None
