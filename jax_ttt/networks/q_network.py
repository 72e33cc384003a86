"""Boards to action values: the network and its forward pass.

Axes: `B` boards, `H W C` planes, `A` actions, `H` heads (values of an action), `V` the
values of a board.
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
from jaxtyping import Array, Float, Key, Shaped

from jax_ttt.config.architecture import Architecture
from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.choices import NetworkKind, Precision
from jax_ttt.envs import pgx_games, symmetry
from jax_ttt.envs.stones import Positions
from jax_ttt.networks import canonical_views
from jax_ttt.networks.mlp import MLP
from jax_ttt.networks.table import KEYS, Table
from jax_ttt.runtime import devices


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Network:
    """What the weights need to give values: the architecture, a table's positions.

    A pytree, so that the positions are data of a compiled program.
    """

    architecture: Architecture = dataclasses.field(metadata={"static": True})
    positions: Positions | None = None  # of a table only

    @property
    def env_id(self) -> EnvId:
        """The game."""
        return self.architecture.env_id

    @property
    def is_table(self) -> bool:
        """Whether the weights are a table's values."""
        return self.positions is not None


class Heads(NamedTuple):
    """How many values a network gives of an action, and which is the action's value."""

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
"""The heads by `Architecture.heads`."""


def _fastest() -> DTypeLike:
    amx = devices.current().platform == "cpu" and devices.has_amx()
    return jnp.bfloat16 if amx else jnp.float32


DTYPES: dict[Precision, Callable[[], DTypeLike]] = {
    "auto": _fastest,
    "float32": lambda: jnp.float32,
    "bfloat16": lambda: jnp.bfloat16,
}
"""What gives the dtype, by the setting `precision`."""


def learning_dtype(precision: Precision) -> DTypeLike:
    """Return what the learner's products take: the one place that decides "auto".

    bfloat16 only where the processor has units for it. A GPU's time at these sizes goes
    elsewhere than into products, and a TPU takes float32 as bfloat16 anyway.
    """
    return jnp.dtype(DTYPES[precision]())


class _Make(Protocol):
    """Makes the module of a network of one kind."""

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
    del initial_value  # its weights are drawn
    architecture = network.architecture
    planes, num_actions = pgx_games.sizes(network.env_id)
    num_inputs, num_outputs = int(np.prod(planes)), num_heads * num_actions
    sizes = (num_inputs, *architecture.hidden_sizes, num_outputs)
    return MLP(sizes, architecture.activation, rngs, dtype)


def _make_table(
    network: Network,
    num_heads: int,
    rngs: nnx.Rngs,
    dtype: DTypeLike,
    initial_value: float,
) -> Table:
    del rngs, dtype  # nothing is drawn, and there are no products
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
    """Return the module of a network, its weights drawn from `rngs`.

    A table's entries all begin at `initial_value`.

    Raises:
        ValueError: it is a table without positions.
    """
    architecture = network.architecture
    num_heads = HEADS[architecture.heads].num
    make_module = NETWORKS[architecture.network]
    return make_module(network, num_heads, rngs, dtype, initial_value)


def init_params(
    network: Network, key: Key[Array, ""], initial_value: float = 0.0
) -> nnx.State:
    """Return fresh weights, of a table `initial_value` each; `key` is consumed."""
    module = make_module(network, nnx.Rngs(key), initial_value=initial_value)
    return nnx.state(module, nnx.Param)


def q_values(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "B A"]:
    """Return the value of each action to the mover, illegal ones included.

    The learner passes its `dtype`, what the products take (`learning_dtype`). All else
    that asks, grades and proofs among it, reads the weights in float32, whatever
    precision they were learned in: an agent is graded and played alike wherever it is
    loaded.

    With canonical boards the network sees one view of all that are symmetric, and its
    values are mapped back to the board's own actions, so that they turn with it.
    """
    values = heads(network, params, obs, dtype)
    return HEADS[network.architecture.heads].value(values)


def heads(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "H B A"]:
    """Return all that the network says of each action.

    That is one value (`H` 1), its value to the mover; with a two-ply backup a second
    one, its value to the one who waits; of double tables, what each of the two says.
    """
    planes = pgx_games.planes(network.env_id, obs)
    views = symmetry.views(network.env_id)
    architecture = network.architecture
    # After-states that are symmetric share a row already.
    shared = KEYS[architecture.table_key].of_after_states
    if not architecture.canonical or shared or views is None:
        return _forward(network, params, planes, dtype)
    least = canonical_views.least_views(planes, views)
    seen = canonical_views.turned(planes, views, least)
    values = _forward(network, params, seen, dtype)
    return canonical_views.turned_back(values, views, least)


@functools.cache
def _graph(architecture: Architecture, dtype: jnp.dtype) -> nnx.GraphDef:
    """Return what a network without positions is besides its weights.

    Kept, as tracing a program asks for it several times.
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
    """Return the values of boards as they are."""
    if network.positions is None:
        module = nnx.merge(_graph(network.architecture, jnp.dtype(dtype)), params)
        values = module(planes)
    else:
        graph = nnx.graphdef(nnx.eval_shape(lambda: make_module(network, nnx.Rngs(0))))
        values = nnx.merge(graph, params)(planes, network.positions)
    num_heads = HEADS[network.architecture.heads].num
    return jnp.stack(jnp.split(values, num_heads, axis=-1))
