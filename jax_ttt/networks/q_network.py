"""The network from boards to action values, and its forward pass.

Axes: `B` boards, `A` actions, `H` heads (values per action). The rows, columns and
planes of a board are written out.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Key, Shaped

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.settings import Architecture, Precision
from jax_ttt.games import pgx_games, stone_boards
from jax_ttt.networks import integer_network
from jax_ttt.networks.mlp import MLP
from jax_ttt.networks.table import Positions, Table
from jax_ttt.runtime import devices


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Network:
    """A network without its weights: the architecture, and a table's positions.

    It is a pytree, so that a compiled program takes the positions as data.
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


def _first_head(values: Float[Array, "H B A"]) -> Float[Array, "B A"]:
    return values[0]


def _mean_of_heads(values: Float[Array, "H B A"]) -> Float[Array, "B A"]:
    return values.mean(axis=0)


HEADS = {
    "value": Heads(1, _first_head),
    "value-and-reply": Heads(2, _first_head),
    "two-tables": Heads(2, _mean_of_heads),
}
"""The heads by `Architecture.head_kind`."""


def learning_dtype(precision: Precision) -> DTypeLike:
    """Return the dtype of the learner's matrix products.

    "auto" is bfloat16 on a CPU with instructions for it, else float32. On a GPU, matrix
    products of these sizes take little of the time. A TPU rounds the operands of
    float32 products to bfloat16 anyway.
    """
    if precision != "auto":
        return jnp.dtype(precision)
    on_cpu = devices.current_device().platform == "cpu"
    return jnp.dtype(jnp.bfloat16 if on_cpu and devices.has_bfloat16() else jnp.float32)


def planes_shape(architecture: Architecture) -> tuple[int, int, int]:
    """Return the shape `(H, W, C)` of an MLP's input."""
    height, width, channels = pgx_games.sizes(architecture.env_id).planes
    return height, width, 2 if architecture.two_planes else channels


def _make_mlp(architecture: Architecture, rngs: nnx.Rngs, dtype: DTypeLike) -> MLP:
    sizes = pgx_games.sizes(architecture.env_id)
    return MLP(
        shape=planes_shape(architecture),
        num_filters=architecture.filters,
        hidden_sizes=architecture.hidden_sizes,
        num_values=HEADS[architecture.head_kind].num * sizes.num_actions,
        activation=architecture.activation,
        dtype=dtype,
        rngs=rngs,
    )


def own_module(architecture: Architecture, rngs: nnx.Rngs) -> nnx.Module:
    """Return the network of a user's class."""
    assert architecture.own is not None
    sizes = pgx_games.sizes(architecture.env_id)
    return architecture.own.network_class(
        planes_shape(architecture),
        HEADS[architecture.head_kind].num * sizes.num_actions,
        rngs=rngs,
    )


def _make_table(architecture: Architecture, positions: Positions) -> Table:
    return Table(
        key=architecture.table_key,
        positions=positions,
        num_heads=HEADS[architecture.head_kind].num,
        num_actions=pgx_games.sizes(architecture.env_id).num_actions,
        # In a file of another program it may be an int, of which JAX makes integers.
        initial_value=float(architecture.initial_value),
    )


def to_integers(
    network: Network,
    params: nnx.State,
    obs: Shaped[np.ndarray, "B *shape"] | Shaped[Array, "B *shape"],
) -> nnx.State:
    """Return the network of integers nearest to one of float32.

    The boards show the sizes of its activations.

    Raises:
        ValueError: there is none; see `integer_network.reason_not_possible`.
    """
    architecture = network.architecture
    if reason := integer_network.reason_not_possible(architecture):
        raise ValueError(reason)
    boards = np.asarray(obs)
    if (views := _canonical_views(architecture)) is not None:
        is_canonical = stone_boards.least_views(stone_boards.cells(boards), views)
        boards = stone_boards.to_canonical(boards, views, is_canonical)
    planes = np.asarray(_planes(architecture, jax.device_put(boards)))
    return integer_network.quantize(planes_shape(architecture), params, planes)


def init_params(network: Network, key: Key[Array, ""]) -> nnx.State:
    """Return the initial weights: random for an MLP, all equal for a table.

    `key` is consumed.

    Raises:
        ValueError: the network is a table without positions.
    """
    architecture = network.architecture
    if architecture.own is not None:
        module = own_module(architecture, nnx.Rngs(key))
    elif not architecture.is_table:
        module = _make_mlp(architecture, nnx.Rngs(key), jnp.float32)
    elif network.positions is None:
        raise ValueError("a table needs the positions of its game")
    else:
        module = _make_table(architecture, network.positions)
    return nnx.state(module, nnx.Param)


def param_shapes(network: Network) -> nnx.State:
    """Return the pytree of a network's weights with their shapes and dtypes only.

    It is kept, so a caller must not change it.
    """
    architecture = network.architecture
    if architecture.is_table:
        return jax.eval_shape(init_params, network, jax.random.key(0))
    _, shapes = _mlp_without_weights(architecture, jnp.dtype(jnp.float32))
    return shapes


def action_values(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "B A"]:
    """Return the value of each action to the mover, including illegal actions.

    Only the learner passes another `dtype` for the matrix products (`learning_dtype`).
    Grades, proofs and play use float32 on every machine, whatever precision the agent
    was trained in.

    With canonical boards, the network sees the canonical view of each board, and its
    values are mapped back to the actions on the board itself.
    """
    values = head_values(network, params, obs, dtype)
    return HEADS[network.architecture.head_kind].value(values)


def action_scores(
    network: Network, params: nnx.State, obs: Shaped[Array, "B *shape"]
) -> Float[Array, "B A"]:
    """Return the numbers that a greedy player compares: the higher, the better.

    They are the action values; for a network of integers, the integers of its last
    layer. Different integers may stand for equal values, which tanh rounds.
    """
    scores = _head_scores(network, params, obs, jnp.float32)
    return HEADS[network.architecture.head_kind].value(scores)


def head_values(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "H B A"]:
    """Return all values of each action.

    The first head is the value to the mover. With a two-ply backup, the second head is
    the value to the waiting player. With double tables, there is one head per table.
    """
    scores = _head_scores(network, params, obs, dtype)
    if integer_network.is_integer(params):
        return integer_network.values(params, scores)
    return scores


def _head_scores(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike,
) -> Float[Array, "H B A"]:
    """Return the network's output for each action: see `action_scores`."""
    views = _canonical_views(network.architecture)
    if views is None:
        return _forward(network, params, obs, dtype)
    is_canonical = stone_boards.least_views(
        stone_boards.cells(obs), views
    )  # (B, views)
    board = stone_boards.to_canonical(obs, views, is_canonical)
    values = _forward(network, params, board, dtype)
    return stone_boards.from_canonical(values, views, is_canonical)


def _canonical_views(architecture: Architecture) -> stone_boards.Views | None:
    """Return the views to choose the canonical one from; None without canonical boards.

    A table of after-states needs no canonical view: symmetric after-states share a row.
    """
    has_after_states = architecture.is_table and architecture.table_key == "after-state"
    if not architecture.canonical or has_after_states:
        return None
    return pgx_games.symmetric_views(architecture.env_id)


@pgx_games.cache_of_games
def _mlp_without_weights(
    architecture: Architecture, dtype: DTypeLike
) -> tuple[nnx.GraphDef, nnx.State]:
    """Return an MLP's graph, and the shapes and dtypes of its weights.

    They are cached, because tracing one program uses them several times.
    """
    if architecture.own is None:
        mlp = nnx.eval_shape(lambda: _make_mlp(architecture, nnx.Rngs(0), dtype))
    else:
        mlp = nnx.eval_shape(lambda: own_module(architecture, nnx.Rngs(0)))
    graph, shapes = nnx.split(mlp, nnx.Param)
    return graph, shapes


def _forward(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike,
) -> Float[Array, "H B A"]:
    """Return the scores of the boards as they are, not of their canonical views."""
    architecture, positions = network.architecture, network.positions
    if integer_network.is_integer(params):
        planes = _planes(architecture, obs)
        values = integer_network.scores(planes_shape(architecture), params, planes)
    elif positions is None:
        graph, _ = _mlp_without_weights(architecture, jnp.dtype(dtype))
        mlp = nnx.merge(graph, params)
        values = mlp(_planes(architecture, obs))
    else:
        table = nnx.eval_shape(lambda: _make_table(architecture, positions))
        values = nnx.merge(nnx.graphdef(table), params)(obs, positions)
    return jnp.stack(jnp.split(values, HEADS[architecture.head_kind].num, axis=-1))


def _planes(
    architecture: Architecture, obs: Shaped[Array, "B *shape"]
) -> Float[Array, "B rows columns planes"]:
    """Return an MLP's input, from the mover's perspective.

    With `two_planes`, these are PGX's planes of stones: the mover's, then the
    opponent's.
    """
    if architecture.two_planes:
        return obs.astype(jnp.float32)
    return pgx_games.planes(architecture.env_id, obs)
