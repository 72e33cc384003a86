"""What the bits of a run depend on besides its settings and its seed."""

import os
import sys

import jax

from jax_ttt import __version__
from jax_ttt.checkpoints.saved import Found
from jax_ttt.config.errors import UsageError
from jax_ttt.config.settings import Config
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.runtime import devices, process, streams


def environment() -> JsonObject:
    """Return the versions, the device, the threads and the random number generator."""
    keys = str(jax.config.jax_default_prng_impl)  # type: ignore[attr-defined]
    partitionable = jax.config.jax_threefry_partitionable  # type: ignore[attr-defined]
    return {
        "device": devices.described(),
        "python": sys.version.split()[0],
        "versions": {"jax_ttt": __version__} | process.versions(),
        "XLA_FLAGS": os.environ.get("XLA_FLAGS"),
        "random_numbers": {"keys": keys, "partitionable": bool(partitionable)},
    }


def tell_changes(found: Found, config: Config) -> None:
    """Say what differs from the run as it was, and what that means.

    Raises:
        UsageError: the run's keys are of another random number generator.
    """
    about = found.checkpoint.environment
    check_random_numbers(about)
    if changed := differences(about):
        streams.tell(
            f"warning: {'; '.join(changed)}: numbers may be rounded differently, so "
            "the run continues, but its bits may differ"
        )
    then, now = (c.run.num_updates for c in (found.checkpoint.plan.config, config))
    if now != then:
        streams.tell(
            f"num_updates is {now:,}, up from {then:,}: from here on, epsilon and the "
            f"learning rate follow the schedules of {now:,} updates, so the agent "
            f"differs from that of a run with --num-updates {now} from its beginning"
        )


def check_random_numbers(saved: JsonObject) -> None:
    """Raise `UsageError` if a run's keys are of another generator than ours."""
    ours, theirs = (_random_numbers(about) for about in (environment(), saved))
    if ours != theirs:
        raise UsageError(
            f"the run was trained with the random numbers of {theirs}, but those here "
            f"are of {ours}: set JAX_DEFAULT_PRNG_IMPL and "
            "JAX_THREEFRY_PARTITIONABLE as they were then"
        )


def differences(saved: JsonObject) -> list[str]:
    """Return what the bits depend on and has changed, each as `name: then -> now`."""
    then, now = (_relevant(about) for about in (saved, environment()))
    return [
        f"{name}: {then.get(name)} -> {value}"
        for name, value in now.items()
        if then.get(name) != value
    ]


def _relevant(about: JsonObject) -> JsonObject:
    """Return what the bits depend on; of the threads, only their number."""
    device = about.get("device")
    device = device if isinstance(device, dict) else {}
    flat = records.flattened({"versions": about.get("versions") or {}}, ".")
    found = {name.partition(".")[2]: value for name, value in flat.items()}
    found |= {name: device.get(name) for name in ("platform", "kind")}
    if device.get("platform") == "cpu":
        found["threads"] = str(device.get("NPROC") or device.get("cpu_count"))
    return found | {"XLA_FLAGS": about.get("XLA_FLAGS")}


def _random_numbers(about: JsonObject) -> str:
    numbers = about.get("random_numbers")
    numbers = numbers if isinstance(numbers, dict) else {}
    partitionable = "" if numbers.get("partitionable") else ", not partitionable"
    return f"{numbers.get('keys')}{partitionable}"
