"""The devices that a run is spread over, and where its arrays lie on them.

A run alone is split by its games, many agents at once by the agents. All else, like the
parameters, is the same on each device; the compiler adds the sums over devices.

A mesh of None is a single device.
"""

from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jax_ttt.config import device_flags
from jax_ttt.config.device_flags import DeviceFlags, DistributedFlags
from jax_ttt.config.errors import UsageError
from jax_ttt.config.settings import Config
from jax_ttt.runtime import devices, processes

_AXIS = "devices"
PyTreeT = TypeVar("PyTreeT")


class Hardware(NamedTuple):
    """What a command computes on."""

    name: str  # of the kind of device, with the number of devices
    mesh: Mesh | None = None


def use_devices(kind: str, args: DeviceFlags) -> Hardware:
    """Make JAX compute on a kind of device; return the devices that are asked for.

    Raises:
        UsageError: there are no such devices, or JAX is set up so that it can't work.
    """
    spread = (
        args
        if isinstance(args, DistributedFlags)
        else DistributedFlags(devices=args.devices)
    )
    processes.join_processes(spread)
    try:
        device = devices.choose_device(kind)
    except devices.DeviceError as error:
        raise UsageError(str(error)) from None
    return _spread(spread, device) if spread.is_spread else Hardware(device)


def _spread(args: DistributedFlags, device: str) -> Hardware:
    present = jax.devices(devices.current_device().platform)
    wanted = args.devices or ("all" if args.distributed else "1")
    if wanted != "all" and int(wanted) > len(present):
        rule = f"1 to {len(present)}, the devices here, or all"
        raise UsageError(f"--devices must be {rule}, got {wanted}")
    chosen = present if wanted == "all" else present[: int(wanted)]
    if len(chosen) == 1:
        return Hardware(device)
    hosts = (
        f", {processes.num_processes()} processes"
        if processes.num_processes() > 1
        else ""
    )
    name = f"{device}, {len(chosen)} devices{hosts}"
    return Hardware(name, Mesh(np.array(chosen), (_AXIS,)))


def num_devices(mesh: Mesh | None) -> int:
    """Return the number of devices."""
    return 1 if mesh is None else mesh.size


def split_sharding(mesh: Mesh) -> NamedSharding:
    """Return how an array lies that is split over the devices by its first axis."""
    return NamedSharding(mesh, PartitionSpec(_AXIS))


def replicated_sharding(mesh: Mesh) -> NamedSharding:
    """Return how an array lies that is the same on each device."""
    return NamedSharding(mesh, PartitionSpec())


def round_up_for_devices(number: int, mesh: Mesh | None) -> int:
    """Return the number, or the next one that the devices can share evenly."""
    return -(-number // num_devices(mesh)) * num_devices(mesh)


def check_even_split(config: Config, mesh: Mesh | None) -> None:
    """Raise `SettingError` if the devices can't share a run's games evenly."""
    device_flags.check_shares(config, num_devices(mesh))


def put_on_devices(tree: PyTreeT, shardings: object) -> PyTreeT:
    """Return the arrays of a pytree on the devices; `shardings` is a prefix of it.

    With several processes, each has all of an array that it puts.
    """
    return jax.tree.map(_put, tree, jax.tree.broadcast(shardings, tree))


def _put(leaf: jax.Array | np.ndarray, sharding: NamedSharding) -> jax.Array:
    if isinstance(leaf, jax.Array) and leaf.sharding == sharding:
        return leaf
    if processes.num_processes() == 1:
        return jax.device_put(leaf, sharding)
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_put(jax.random.key_data(leaf), sharding))
    host = np.asarray(leaf)
    return jax.make_array_from_callback(host.shape, sharding, lambda i: host[i])


def gather_arrays(tree: PyTreeT) -> PyTreeT:
    """Return the arrays, each in a form that this process can read as a whole.

    All processes have to call it together.
    """
    if processes.num_processes() == 1:
        return tree
    return jax.tree.map(_gathered, tree)


def _gathered(leaf: jax.Array | np.ndarray) -> jax.Array | np.ndarray:
    if not isinstance(leaf, jax.Array) or leaf.is_fully_replicated:
        return leaf
    return multihost_utils.process_allgather(leaf, tiled=True)
