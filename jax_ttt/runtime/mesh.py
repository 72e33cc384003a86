"""The devices that a run uses, and the placement of its arrays on them.

The devices share the agents of a batch, and the positions of a search, by the first
axis of the arrays. Everything else is the same on each device.

A mesh of None means a single device.
"""

from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jax_ttt.config.errors import Refused
from jax_ttt.config.shared_flags import DeviceFlags, DistributedFlags
from jax_ttt.runtime import devices, distributed

_AXIS = "devices"
PyTreeT = TypeVar("PyTreeT")


class Hardware(NamedTuple):
    """The devices that a command computes on."""

    name: str  # kind of device, and the number of devices if there are several
    mesh: Mesh | None = None


def use_devices(kind: str, flags: DeviceFlags) -> Hardware:
    """Make JAX compute on the devices that the flags name, of this kind.

    Raises:
        Refused: there are no such devices, or a setting of JAX prevents training.
    """
    if not isinstance(flags, DistributedFlags):
        flags = DistributedFlags(devices=flags.devices)
    distributed.join_processes(flags)
    try:
        device = devices.choose_device(kind)
    except devices.DeviceError as error:
        raise Refused(str(error)) from None
    return _hardware(flags, device) if flags.is_spread else Hardware(device)


def _hardware(flags: DistributedFlags, device: str) -> Hardware:
    """Return the devices of the flags; `device` is the name of the first one."""
    present = jax.devices(devices.current_device().platform)
    number = flags.devices or ("all" if flags.distributed else "1")
    if number != "all" and int(number) > len(present):
        rule = f"1 to {len(present)}, the devices here, or all"
        raise Refused(f"--devices must be {rule}, got {number}")
    chosen = present if number == "all" else present[: int(number)]
    if len(chosen) == 1:
        return Hardware(device)
    name = f"{device}, {len(chosen)} devices"
    if distributed.num_processes() > 1:
        name += f", {distributed.num_processes()} processes"
    return Hardware(name, Mesh(np.array(chosen), (_AXIS,)))


def num_devices(mesh: Mesh | None) -> int:
    """Return the number of devices."""
    return 1 if mesh is None else mesh.size


def spec_of_agents(are_split: bool) -> PartitionSpec:
    """Return how an array lies on the devices: split by its first axis, or whole."""
    return PartitionSpec(_AXIS) if are_split else PartitionSpec()


def split_sharding(mesh: Mesh) -> NamedSharding:
    """Return the sharding of an array that is split by its first axis."""
    return NamedSharding(mesh, spec_of_agents(True))


def replicated_sharding(mesh: Mesh) -> NamedSharding:
    """Return the sharding of an array that is the same on each device."""
    return NamedSharding(mesh, spec_of_agents(False))


def round_up_for_devices(number: int, mesh: Mesh | None) -> int:
    """Return the least multiple of the number of devices that is at least `number`."""
    return -(-number // num_devices(mesh)) * num_devices(mesh)


def put_on_devices(tree: PyTreeT, shardings: object) -> PyTreeT:
    """Return the pytree with its arrays placed by `shardings`, a prefix of the pytree.

    With several processes, each must have the whole of every array.
    """
    return jax.tree.map(_put_leaf, tree, jax.tree.broadcast(shardings, tree))


def _put_leaf(leaf: jax.Array | np.ndarray, sharding: NamedSharding) -> jax.Array:
    if isinstance(leaf, jax.Array) and leaf.sharding == sharding:
        return leaf
    if distributed.num_processes() == 1:
        return jax.device_put(leaf, sharding)
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_put_leaf(jax.random.key_data(leaf), sharding))
    host = np.asarray(leaf)
    return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])


def gather_arrays(tree: PyTreeT) -> PyTreeT:
    """Return the arrays in a form that this process can read as a whole.

    A process can't read the parts of an array on another host's devices. All processes
    must call this function together.
    """
    if distributed.num_processes() == 1:
        return tree
    return jax.tree.map(_gather_leaf, tree)


def _gather_leaf(leaf: jax.Array | np.ndarray) -> jax.Array | np.ndarray:
    if not isinstance(leaf, jax.Array) or leaf.is_fully_replicated:
        return leaf
    return multihost_utils.process_allgather(leaf, tiled=True)
