"""What the bits of a run depend on besides its settings and its seed."""

import os
import sys

import jax

from jax_ttt import __version__
from jax_ttt.config.errors import UsageError
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.runtime import devices, process

_WITHOUT_EFFECT = ("python", "device.count", "device.cpu_count", "device.NPROC")


def environment() -> JsonObject:
    """Return the versions, the device, the threads and the random number generator."""
    keys = str(jax.config.jax_default_prng_impl)  # type: ignore[attr-defined]
    partitionable = jax.config.jax_threefry_partitionable  # type: ignore[attr-defined]
    suffix = "" if partitionable else ", not partitionable"
    return {
        "device": devices.device_description(),
        "python": sys.version.split()[0],
        "versions": {"jax_ttt": __version__} | process.library_versions(),
        "XLA_FLAGS": os.environ.get("XLA_FLAGS"),
        "random_numbers": f"{keys}{suffix}",
    }


def check_random_numbers(saved: JsonObject) -> None:
    """Raise `UsageError` if a run's keys are of another generator than ours."""
    then, now = saved.get("random_numbers"), environment()["random_numbers"]
    if then != now:
        raise UsageError(
            f"the run was trained with the random numbers of {then}, but those here "
            f"are of {now}: set JAX_DEFAULT_PRNG_IMPL and "
            "JAX_THREEFRY_PARTITIONABLE as they were then"
        )


def differences(saved: JsonObject) -> list[str]:
    """Return what the bits depend on and has changed, each as `name: then -> now`."""
    then, now = (_what_counts(place) for place in (saved, environment()))
    return [
        f"{name.removeprefix('versions.')}: {then.get(name)} -> {value}"
        for name, value in now.items()
        if then.get(name) != value
    ]


def _what_counts(place: JsonObject) -> JsonObject:
    """Return what the bits depend on; of a processor's threads, only their number."""
    flat = records.flattened(place, ".")
    if flat.get("device.platform") == "cpu":
        threads = flat.get("device.NPROC") or flat.get("device.cpu_count")
        flat["threads"] = str(threads)
    return {name: part for name, part in flat.items() if name not in _WITHOUT_EFFECT}
