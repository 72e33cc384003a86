"""The environment of a run: what decides its bits besides its settings and its seed.

These are the versions, the device, the number of threads, XLA's flags, and the
generator of random numbers. On a GPU they don't decide all bits.
"""

import functools
import os
import sys
from importlib.metadata import version

import jax

from jax_ttt import __version__
from jax_ttt.config.errors import Refused
from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject
from jax_ttt.runtime import devices

_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "pgx", "numpy")
_WITHOUT_EFFECT = ("python", "device.count", "device.cpu_count", "device.NPROC")
"""Parts that are saved for people. The last two decide only the number of threads."""


@functools.cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    return {name: version(name) for name in _LIBRARIES}


def describe_environment() -> JsonObject:
    """Return the versions, the device, the threads and the random number generator."""
    keys = str(jax.config.jax_default_prng_impl)  # type: ignore[attr-defined]
    partitionable = jax.config.jax_threefry_partitionable  # type: ignore[attr-defined]
    suffix = "" if partitionable else ", not partitionable"
    return {
        "device": devices.device_description(),
        "python": sys.version.split()[0],
        "versions": {"jax_ttt": __version__} | library_versions(),
        "XLA_FLAGS": os.environ.get("XLA_FLAGS"),
        "random_numbers": f"{keys}{suffix}",
    }


def check_random_numbers(then: str | None) -> None:
    """Raise `Refused` if a saved run has another random number generator than ours.

    Its keys would then be read as different numbers, or not at all. None: the run's
    settings don't say it.
    """
    now = describe_environment()["random_numbers"]
    if then not in (None, now):
        raise Refused(
            f"the run was trained with the random numbers of {then}, but those here "
            f"are of {now}: set JAX_DEFAULT_PRNG_IMPL and "
            "JAX_THREEFRY_PARTITIONABLE as they were then"
        )


def environment_differences(saved: JsonObject) -> list[str]:
    """Return the changes since a run began or went on, each as `name: then -> now`.

    `saved` is the run's `config.json`.

    Only what can change the bits of the results is compared.
    """
    then, now = _relevant_parts(saved), _relevant_parts(describe_environment())
    return [
        f"{name.removeprefix('versions.')}: {then.get(name)} -> {value}"
        for name, value in now.items()
        if then.get(name) != value
    ]


def _relevant_parts(environment: JsonObject) -> JsonObject:
    """Return the parts that decide the bits, by names such as `versions.jax`.

    On a CPU the number of threads does, whether `NPROC` or the cores decide it.
    """
    flat = json_records.flatten_record(environment, ".")
    if flat.get("device.platform") == "cpu":
        threads = flat.get("device.NPROC") or flat.get("device.cpu_count")
        flat["threads"] = str(threads)
    return {name: part for name, part in flat.items() if name not in _WITHOUT_EFFECT}
