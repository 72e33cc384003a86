"""The devices that a run is spread over, and which of its arrays are split.

A run alone is split by its games, many agents at once by the agents. All else, like the
parameters, is the same on each device; the compiler adds the sums over devices.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jax_ttt.config.errors import UsageError
from jax_ttt.config.settings import Config
from jax_ttt.runtime import devices
from jax_ttt.scaling import flags, processes
from jax_ttt.scaling.flags import Devices, Spread

_AXIS = "devices"
_OF_GAMES = ("env_state.", "buffer.moves.")
"""Begins of the names of a learner's leaves whose first axis is games or moves."""

Split: TypeAlias = tuple[bool, ...] | None
"""Which arguments of a program have agents as their first axis; None: of one agent."""

_mesh: Mesh | None = None


def use_devices(kind: str, args: Devices) -> str:
    """Make JAX compute on a kind of device, on as many devices and hosts as asked for.

    With a single device, all programs are those of a process that never called this.
    Returns the device's name, with the number of devices.

    Raises:
        UsageError: there are no such devices, or JAX is set up so that it can't work.
    """
    spread = args if isinstance(args, Spread) else Spread(devices=args.devices)
    processes.join(spread)
    try:
        device = devices.choose_device(kind)
    except devices.DeviceError as error:
        raise UsageError(str(error)) from None
    return _spread(spread, device) if spread.is_spread else device


def _spread(args: Spread, device: str) -> str:
    global _mesh
    found = jax.devices(devices.current().platform)
    wanted = args.devices or ("all" if args.distributed else "1")
    if wanted != "all" and int(wanted) > len(found):
        rule = f"1 to {len(found)}, the devices here, or all"
        raise UsageError(f"--devices must be {rule}, got {wanted}")
    chosen = found if wanted == "all" else found[: int(wanted)]
    _mesh = Mesh(np.array(chosen), (_AXIS,)) if len(chosen) > 1 else None
    if _mesh is None:
        return device
    hosts = f", {processes.count()} processes" if processes.count() > 1 else ""
    return f"{device}, {len(chosen)} devices{hosts}"


def in_use() -> Mesh | None:
    """Return the devices in use; None if there is only one."""
    return _mesh


def num_devices() -> int:
    """Return the number of devices in use."""
    return 1 if _mesh is None else _mesh.size


def of_batch() -> NamedSharding | None:
    """Return how a batch is split over the devices in use; None if there is one."""
    return None if _mesh is None else NamedSharding(_mesh, PartitionSpec(_AXIS))


def rounded_up(number: int) -> int:
    """Return the number, or the next one that the devices can share evenly."""
    return -(-number // num_devices()) * num_devices()


@contextlib.contextmanager
def on_one_device() -> Iterator[None]:
    """Compile for a single device meanwhile."""
    global _mesh
    before, _mesh = _mesh, None
    try:
        yield
    finally:
        _mesh = before


def check_shares(config: Config) -> None:
    """Raise `SettingError` if the devices in use can't share a run's games evenly."""
    flags.check_shares(config, num_devices())


def argument_shapes(args: Sequence[Any], of_agents: Split) -> tuple[Any, ...]:
    """Return the shapes and dtypes of a program's arguments, and how they are split.

    `of_agents` says of each argument whether its first axis is agents.
    """
    if _mesh is None:
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), (*args,))
    return jax.tree.map(
        lambda x, sharding: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding),
        (*args,),
        _of_arguments(_mesh, args, of_agents),
    )


def put(args: Sequence[Any], of_agents: Split) -> tuple[Any, ...]:
    """Return a program's arguments, as arrays that lie as `argument_shapes` says."""
    if _mesh is None:
        return tuple(args)
    return jax.tree.map(_put, (*args,), _of_arguments(_mesh, args, of_agents))


def lowered_for_all(
    function: Callable,
    shapes: Sequence[jax.ShapeDtypeStruct],
    donated: tuple[int, ...],
    of_agents: bool,
) -> jax.stages.Lowered:
    """Return the lowered program of a function, for all devices in use.

    `shapes` are of `argument_shapes`. What the host reads of the results, like metrics
    and grades, is the same on each device.

    Raises:
        ValueError: there is one device.
    """
    if _mesh is None:
        raise ValueError("there is one device")
    results = jax.eval_shape(function, *shapes)
    lie = _shardings(_mesh, results, of_agents, only_named=True)
    program = jax.jit(function, donate_argnums=donated, out_shardings=lie)
    return program.lower(*shapes)


def _of_arguments(mesh: Mesh, args: Sequence[Any], of_agents: Split) -> tuple[Any, ...]:
    split = of_agents or ()
    pairs = itertools.zip_longest(args, split, fillvalue=False)
    return tuple(_shardings(mesh, arg, bool(is_split)) for arg, is_split in pairs)


def _shardings(
    mesh: Mesh,
    tree: Any,  # noqa: ANN401
    of_agents: bool,
    only_named: bool = False,
) -> Any:  # noqa: ANN401
    whole = NamedSharding(mesh, PartitionSpec())
    split = NamedSharding(mesh, PartitionSpec(_AXIS))

    def of(path: tuple[Any, ...], _: Any) -> NamedSharding:  # noqa: ANN401
        names = [key.key for key in path if isinstance(key, jax.tree_util.DictKey)]
        games = any(name.startswith(_OF_GAMES) for name in names)
        agents = of_agents and (bool(names) or not only_named)
        return split if agents or games else whole

    return jax.tree_util.tree_map_with_path(of, tree)


def _put(leaf: Any, sharding: NamedSharding) -> jax.Array:  # noqa: ANN401
    if isinstance(leaf, jax.Array) and leaf.sharding == sharding:
        return leaf
    if processes.count() == 1:
        return jax.device_put(leaf, sharding)
    whole = np.asarray(leaf)  # each process has all of it
    return jax.make_array_from_callback(whole.shape, sharding, lambda i: whole[i])


def _same(leaf: jax.Array) -> jax.Array:
    return leaf


def gathered(tree: Any) -> Any:  # noqa: ANN401
    """Return the arrays, each in a form that this process can read as a whole.

    All processes have to call it together.
    """
    if _mesh is None or processes.count() == 1:
        return tree
    copy = jax.jit(_same, out_shardings=NamedSharding(_mesh, PartitionSpec()))
    return jax.tree.map(
        lambda leaf: (
            copy(leaf)
            if isinstance(leaf, jax.Array) and not leaf.is_fully_replicated
            else leaf
        ),
        tree,
    )
