"""The network from boards to action values, and its forward pass.

Axes: `B` boards, `H W C` planes, `A` actions, `H` heads (values per action), `V` values
per board.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, Key, Shaped

from jax_ttt.config.architecture import Architecture
from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.choices import NetworkKind, Precision
from jax_ttt.envs import pgx_games, symmetry
from jax_ttt.envs.stones import Positions
from jax_ttt.networks import canonical_views
from jax_ttt.networks.convolution import Convolution
from jax_ttt.networks.mlp import ACTIVATIONS, MLP
from jax_ttt.networks.table import KEYS, Table
from jax_ttt.runtime import devices


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Network:
    """A network without its weights: the architecture, and a table's positions.

    It is a pytree, so the positions are data of a compiled program.
    """

    architecture: Architecture = dataclasses.field(metadata={"static": True})
    positions: Positions | None = None  # for a table only

    @property
    def env_id(self) -> EnvId:
        """The game."""
        return self.architecture.env_id

    @property
    def is_table(self) -> bool:
        """Whether the weights are the values of a table."""
        return self.positions is not None


class Heads(NamedTuple):
    """The number of values per action, and the function that combines them."""

    num: int
    value: Callable[[Float[Array, "H B A"]], Float[Array, "B A"]]


def _first(values: Float[Array, "H B A"]) -> Float[Array, "B A"]:
    return values[0]


def _mean(values: Float[Array, "H B A"]) -> Float[Array, "B A"]:
    return values.mean(axis=0)


HEADS = {
    "value": Heads(1, _first),
    "value-and-reply": Heads(2, _first),
    "two-tables": Heads(2, _mean),
}
"""The heads by the word in `Architecture.heads`."""


def _fastest() -> DTypeLike:
    faster = devices.current().platform == "cpu" and devices.has_bfloat16()
    return jnp.bfloat16 if faster else jnp.float32


DTYPES: dict[Precision, Callable[[], DTypeLike]] = {
    "auto": _fastest,
    "float32": lambda: jnp.float32,
    "bfloat16": lambda: jnp.bfloat16,
}
"""Functions that return the dtype, by the setting `precision`."""


def learning_dtype(precision: Precision) -> DTypeLike:
    """Return the dtype of the learner's matrix products.

    "auto" is bfloat16 only on a CPU with units for it, else float32. On a GPU, products
    of these sizes take little of the time. A TPU uses bfloat16 for float32 anyway.
    """
    return jnp.dtype(DTYPES[precision]())


class _Make(Protocol):
    """A function that makes the module of one kind of network."""

    def __call__(
        self,
        network: Network,
        num_heads: int,
        rngs: nnx.Rngs,
        dtype: DTypeLike,
        initial_value: float,
    ) -> MLP | Table: ...


def _make_mlp(
    network: Network,
    num_heads: int,
    rngs: nnx.Rngs,
    dtype: DTypeLike,
    initial_value: float,
) -> MLP:
    del initial_value  # the weights are random
    architecture = network.architecture
    planes, num_actions = pgx_games.sizes(network.env_id)
    height, width, channels = planes
    shape = height, width, channels * (1 + architecture.two_planes)
    convolution, num_inputs = None, int(np.prod(shape))
    if architecture.filters:
        activation = ACTIVATIONS[architecture.activation]
        convolution = Convolution(shape, architecture.filters, activation, dtype, rngs)
        num_inputs = convolution.num_outputs
    sizes = (num_inputs, *architecture.hidden_sizes, num_heads * num_actions)
    return MLP(sizes, architecture.activation, rngs, dtype, convolution)


def _make_table(
    network: Network,
    num_heads: int,
    rngs: nnx.Rngs,
    dtype: DTypeLike,
    initial_value: float,
) -> Table:
    del rngs, dtype  # a table has no random weights and no products
    if network.positions is None:
        raise ValueError("a table needs the positions of its game")
    sizes = num_heads, pgx_games.sizes(network.env_id).num_actions
    key = network.architecture.table_key
    return Table(key, network.positions, *sizes, initial_value)


NETWORKS: dict[NetworkKind, _Make] = {"mlp": _make_mlp, "table": _make_table}


def make_module(
    network: Network,
    rngs: nnx.Rngs,
    dtype: DTypeLike = jnp.float32,
    initial_value: float = 0.0,
) -> MLP | Table:
    """Return the module of a network, with random weights from `rngs`.

    All entries of a table are `initial_value`.

    Raises:
        ValueError: the network is a table without positions.
    """
    architecture = network.architecture
    num_heads = HEADS[architecture.heads].num
    make_module = NETWORKS[architecture.network]
    return make_module(network, num_heads, rngs, dtype, initial_value)


def init_params(
    network: Network, key: Key[Array, ""], initial_value: float = 0.0
) -> nnx.State:
    """Return initial weights; those of a table are `initial_value`. Consumes `key`."""
    module = make_module(network, nnx.Rngs(key), initial_value=initial_value)
    return nnx.state(module, nnx.Param)


def q_values(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "B A"]:
    """Return the value of each action to the mover, including illegal actions.

    Only the learner passes another `dtype` for the matrix products (`learning_dtype`).
    Grades, proofs and play use float32 on every machine, whatever precision the agent
    was trained in.

    With canonical boards the network gets the canonical view of each board. Its values
    are mapped back to the board's own actions.
    """
    values = heads(network, params, obs, dtype)
    return HEADS[network.architecture.heads].value(values)


def heads(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "H B A"]:
    """Return all values of each action.

    The first head is the value to the mover. With a two-ply backup, the second head is
    the value to the waiting player. With double tables, there is one head per table.
    """
    planes = pgx_games.planes(network.env_id, obs)
    views = _canonical_views(network.architecture)
    if views is None:
        return _forward(network, params, planes, dtype)
    least = canonical_views.least_views(planes, views)
    seen = canonical_views.to_canonical(planes, views, least)
    values = _forward(network, params, seen, dtype)
    return canonical_views.from_canonical(values, views, least)


def canonical_actions(
    network: Network, obs: Shaped[Array, "B *shape"]
) -> Int[Array, "B A"]:
    """Return which action each action is on the board that the network gets."""
    planes = pgx_games.planes(network.env_id, obs)
    views = _canonical_views(network.architecture)
    if views is None:
        actions = jnp.arange(pgx_games.sizes(network.env_id).num_actions)
        return jnp.broadcast_to(actions, (len(planes), len(actions)))
    least = canonical_views.least_views(planes, views)
    return canonical_views.to_canonical_actions(views, least)


def _canonical_views(architecture: Architecture) -> symmetry.Views | None:
    # Symmetric after-states already share a row.
    shared = KEYS[architecture.table_key].of_after_states
    used = architecture.canonical and not shared
    return symmetry.views(architecture.env_id) if used else None


@functools.cache
def _graph(architecture: Architecture, dtype: jnp.dtype) -> nnx.GraphDef:
    """Return the graph of an MLP: the module without its weights.

    It is cached, because tracing one program needs it several times.
    """
    network = Network(architecture)
    return nnx.graphdef(
        nnx.eval_shape(lambda: make_module(network, nnx.Rngs(0), dtype))
    )


def _forward(
    network: Network,
    params: nnx.State,
    planes: Float[Array, "B H W C"],
    dtype: DTypeLike,
) -> Float[Array, "heads B A"]:
    """Return the values of boards, without a canonical view."""
    if network.architecture.two_planes:
        planes = jnp.concatenate([planes > 0, planes < 0], -1).astype(jnp.float32)
    if network.positions is None:
        module = nnx.merge(_graph(network.architecture, jnp.dtype(dtype)), params)
        values = module(planes)
    else:
        graph = nnx.graphdef(nnx.eval_shape(lambda: make_module(network, nnx.Rngs(0))))
        values = nnx.merge(graph, params)(planes, network.positions)
    num_heads = HEADS[network.architecture.heads].num
    return jnp.stack(jnp.split(values, num_heads, axis=-1))
