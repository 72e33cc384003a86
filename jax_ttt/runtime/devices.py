"""The device that JAX computes on, and the features of its processor."""

import contextlib
import functools
import os
import pathlib
import re
from typing import Protocol, runtime_checkable

import jax

_CGROUP_FOLDER = pathlib.Path("/sys/fs/cgroup")
_CGROUP_FILES = ("memory.max", "memory.current", "memory.stat")
_FILE_CACHE_ROWS = re.compile(r"(?m)^(?:in)?active_file (\d+)$")
"""Rows of `memory.stat` with the bytes of cached files, which Linux frees if needed."""


@runtime_checkable
class Client(Protocol):
    """The part of a device's client that we use."""

    platform_version: str


@runtime_checkable
class Device(Protocol):
    """The part of `jax.Device` that we use; type checkers don't know the class."""

    platform: str
    device_kind: str
    client: Client


class DeviceError(Exception):
    """A device is not available; the message says which one, and what to do."""


def check_number_size() -> None:
    """Raise `DeviceError` if JAX computes with numbers of 64 bits."""
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise DeviceError("PGX needs 32-bit numbers: unset JAX_ENABLE_X64")


def choose_device(device: str) -> str:
    """Make JAX compute on a kind of device.

    `auto` means the platform that `$JAX_DEFAULT_DEVICE` names, or the device that JAX
    chooses if the variable is not set. Returns the device's name.

    Raises:
        DeviceError: there is no such device, or a setting of JAX prevents training.
    """
    check_number_size()
    if jax.config.jax_disable_jit:  # type: ignore[attr-defined]
        raise DeviceError("training needs compiled programs: unset JAX_DISABLE_JIT")
    platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
    first_device = _first_device(platforms)
    name, rule = "--device", "auto or a kind of device"
    if device == "auto":
        device = os.environ.get("JAX_DEFAULT_DEVICE", "")
        name, rule = "JAX_DEFAULT_DEVICE", "a kind of device"
    try:
        chosen = jax.local_devices(backend=device)[0] if device else first_device
    except RuntimeError as error:
        setting = f" (JAX_PLATFORMS is '{platforms}')" if platforms else ""
        raise DeviceError(
            f"{name} must be {rule} that this machine has "
            f"({', '.join(_device_kinds())}), got '{device}'{setting}{_reason(error)}"
        ) from None
    # After a change of this setting, JAX compiles all programs again. It may name a
    # platform that this machine lacks.
    in_use = jax.config.jax_default_device or first_device  # type: ignore[attr-defined]
    if chosen != in_use:
        jax.config.update("jax_default_device", chosen)
    return f"{chosen.platform} ({chosen.device_kind})"


def _first_device(platforms: str | None) -> Device:
    """Return the device that JAX chooses; `platforms` is the value of JAX_PLATFORMS."""
    try:
        return jax.local_devices()[0]
    except (RuntimeError, AssertionError) as error:  # AssertionError: CUDA is missing
        if not platforms:
            raise DeviceError(f"JAX finds no device{_reason(error)}") from None
        raise DeviceError(
            "JAX_PLATFORMS must name platforms that this machine has, "
            f"got '{platforms}': unset it, or set it to cpu{_reason(error)}"
        ) from None


def _device_kinds() -> list[str]:
    """Return the kinds of devices that JAX can use on this machine."""
    kinds = []
    for kind in ("cpu", "gpu", "tpu"):
        with contextlib.suppress(RuntimeError):
            kinds += [kind] * bool(jax.local_devices(backend=kind))
    return kinds


def _reason(error: Exception) -> str:
    """Return JAX's message on one line, after a colon; empty if there is none."""
    text = " ".join(str(error).split())
    return f": {text}" if text else ""


def current_device() -> Device:
    """Return the device in use: the chosen one, or the first one of JAX.

    JAX's setting `jax_default_device` may also be the name of a platform.
    """
    chosen = jax.config.jax_default_device  # type: ignore[attr-defined]
    if isinstance(chosen, str):
        return jax.local_devices(backend=chosen)[0]
    return chosen or jax.local_devices()[0]


def free_host_bytes() -> int | None:
    """Return the bytes that the machine, its container and `ulimit -v` leave.

    The least of the three; None if all are unknown, which is so outside Linux.
    """
    free_sizes = []
    with contextlib.suppress(OSError, KeyError, ValueError):
        free_sizes.append(_listed_bytes("/proc/meminfo", "MemAvailable"))
    with contextlib.suppress(OSError, ValueError):  # the limit is "max": there is none
        limit, used, stat_rows = (
            _CGROUP_FOLDER.joinpath(name).read_text() for name in _CGROUP_FILES
        )
        cached = sum(map(int, _FILE_CACHE_ROWS.findall(stat_rows)))
        free_sizes.append(int(limit) - int(used) + cached)
    with contextlib.suppress(ImportError, OSError, KeyError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            free_sizes.append(limit - _listed_bytes("/proc/self/status", "VmSize"))
    return max(min(free_sizes), 0) if free_sizes else None


def _listed_bytes(path: str, name: str) -> int:
    """Return a size in a file of `/proc`, which has KiB; raises `KeyError`."""
    text = pathlib.Path(path).read_text("utf-8", errors="replace")
    sizes = dict(line.split(":", 1) for line in text.splitlines())
    return int(sizes[name].split()[0]) * 1024


@functools.cache
def has_bfloat16(cpuinfo: pathlib.Path = pathlib.Path("/proc/cpuinfo")) -> bool:
    """Return whether the CPU multiplies bfloat16 numbers: by AMX or AVX-512 BF16.

    False outside Linux, where this is unknown.
    """
    try:
        flags = cpuinfo.read_text(encoding="utf-8").split()
    except OSError:
        return False
    return "amx_bf16" in flags or "avx512_bf16" in flags


def device_description() -> dict[str, str | int | None]:
    """Return the device and the threads on which the results of a run depend."""
    device = current_device()
    return {
        "platform": device.platform,
        "kind": device.device_kind,
        # On a GPU the version of CUDA. JAX does not know the driver's.
        "platform_version": " ".join(device.client.platform_version.split()),
        "count": jax.device_count(),
        # The number of threads decides how a CPU splits sums, which rounds them.
        "cpu_count": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "NPROC": os.environ.get("NPROC"),
    }
