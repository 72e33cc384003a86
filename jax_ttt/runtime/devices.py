"""The device that JAX computes on, and the features of its processor."""

import contextlib
import functools
import os
import pathlib
import re
from typing import Protocol, runtime_checkable

import jax

_GROUP = pathlib.Path("/sys/fs/cgroup")
_GROUP_FILES = ("memory.max", "memory.current", "memory.stat")
_CACHED = re.compile(r"(?m)^(?:in)?active_file (\d+)$")  # bytes that can be given back


@runtime_checkable
class Device(Protocol):
    """What is used of a `jax.Device`, which type checkers don't know."""

    platform: str
    device_kind: str

    def memory_stats(self) -> dict[str, int] | None:
        """Return the numbers of bytes by name, if they are known."""
        ...


class DeviceError(Exception):
    """The device is not available; the message says which one, and what to do."""


def choose_device(device: str) -> str:
    """Make JAX compute on a kind of device.

    `auto` means the platform that `$JAX_DEFAULT_DEVICE` names, or the device that JAX
    chooses if the variable is not set. Returns the device's name.

    Raises:
        DeviceError: there is no such device, or a setting of JAX prevents training.
    """
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise DeviceError("PGX needs 32-bit numbers: unset JAX_ENABLE_X64")
    if jax.config.jax_disable_jit:  # type: ignore[attr-defined]
        raise DeviceError("training needs compiled programs: unset JAX_DISABLE_JIT")
    platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
    first = _first(platforms)
    name, allowed = "--device", "auto or a kind of device"
    if device == "auto":
        device = os.environ.get("JAX_DEFAULT_DEVICE", "")
        name, allowed = "JAX_DEFAULT_DEVICE", "a kind of device"
    try:
        chosen = jax.local_devices(backend=device)[0] if device else first
    except RuntimeError as error:
        only = f" (JAX_PLATFORMS is '{platforms}')" if platforms else ""
        raise DeviceError(
            f"{name} must be {allowed} that this machine has "
            f"({', '.join(_present())}), got '{device}'{only}{_reason(error)}"
        ) from None
    jax.config.update("jax_default_device", chosen)
    return f"{chosen.platform} ({chosen.device_kind})"


def _first(platforms: str | None) -> Device:
    """Return the device that JAX chooses; `platforms` is $JAX_PLATFORMS."""
    try:
        return jax.local_devices()[0]
    except (RuntimeError, AssertionError) as error:  # AssertionError: CUDA is missing
        if not platforms:
            raise DeviceError(f"JAX finds no device{_reason(error)}") from None
        raise DeviceError(
            "JAX_PLATFORMS must name platforms that this machine has, "
            f"got '{platforms}': unset it, or set it to cpu{_reason(error)}"
        ) from None


def _present() -> list[str]:
    """Return the kinds of devices that JAX can use here."""
    found = []
    for kind in ("cpu", "gpu", "tpu"):
        with contextlib.suppress(RuntimeError):
            found += [kind] * bool(jax.local_devices(backend=kind))
    return found


def _reason(error: Exception) -> str:
    """Return JAX's message on one line; empty if JAX gives none."""
    text = " ".join(str(error).split())
    return f": {text}" if text else ""


def current_device() -> Device:
    """Return the device in use: the chosen one, or JAX's first.

    JAX's setting `jax_default_device` may also be the name of a platform.
    """
    chosen = jax.config.jax_default_device  # type: ignore[attr-defined]
    if isinstance(chosen, str):
        return jax.local_devices(backend=chosen)[0]
    return chosen or jax.local_devices()[0]


def free_bytes() -> int | None:
    """Return the free memory of the device in use; None if that is unknown."""
    device = current_device()
    if device.platform == "cpu":
        return free_host_bytes()
    stats = device.memory_stats() or {}
    if "bytes_limit" not in stats:
        return None
    return stats["bytes_limit"] - stats.get("bytes_in_use", 0)


def free_host_bytes() -> int | None:
    """Return the least of what the machine, its container and `ulimit -v` leave."""
    found = []
    with contextlib.suppress(OSError, KeyError, ValueError):
        found.append(_listed("/proc/meminfo", "MemAvailable"))
    with contextlib.suppress(OSError, ValueError):  # "max": no limit
        limit, used, rows = (_GROUP.joinpath(f).read_text() for f in _GROUP_FILES)
        found.append(int(limit) - int(used) + sum(map(int, _CACHED.findall(rows))))
    with contextlib.suppress(ImportError, OSError, KeyError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            found.append(limit - _listed("/proc/self/status", "VmSize"))
    return max(min(found), 0) if found else None


def _listed(path: str, name: str) -> int:
    """Return a size of one of Linux's lists in bytes; raises `KeyError`."""
    text = pathlib.Path(path).read_text("utf-8", errors="replace")
    fields = dict(line.split(":", 1) for line in text.splitlines())
    return int(fields[name].split()[0]) * 1024


@functools.cache
def has_bfloat16(cpuinfo: pathlib.Path = pathlib.Path("/proc/cpuinfo")) -> bool:
    """Return whether the CPU has AMX or AVX-512 BF16; False outside Linux."""
    try:
        flags = cpuinfo.read_text(encoding="utf-8").split()
    except OSError:
        return False
    return "amx_bf16" in flags or "avx512_bf16" in flags


def device_description() -> dict[str, str | int | None]:
    """Return the device in use and the number of threads, as plain data."""
    device = current_device()
    return {
        "platform": device.platform,
        "kind": device.device_kind,
        "count": jax.device_count(),
        # Results on a CPU depend on the number of threads.
        "cpu_count": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "NPROC": os.environ.get("NPROC"),
    }


def compile_and_measure(program: jax.stages.Lowered) -> int:
    """Compile a program, and return about how many bytes of device memory it needs."""
    used = program.compile().memory_analysis()
    if used is None:
        return 0
    given = used.argument_size_in_bytes + used.output_size_in_bytes
    # What is donated is counted in both.
    return given + used.temp_size_in_bytes - used.alias_size_in_bytes


def check_fits(needed: int, remedy: str) -> None:
    """Raise `MemoryError` if the device has fewer bytes free than are `needed`."""
    free = free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"out of memory: this needs about {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free: {remedy}"
        )
