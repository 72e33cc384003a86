"""Boards to action values: the network and its forward pass.

Axes: `B` boards, `H W C` planes, `A` actions, `H` heads (values of an action), `V` the
values of a board, `G` views.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Key, Shaped

from jax_ttt.config.settings import Config
from jax_ttt.envs import pgx_games, symmetry
from jax_ttt.envs.stones import Positions
from jax_ttt.envs.symmetry import Views
from jax_ttt.networks.mlp import MLP
from jax_ttt.networks.table import Table
from jax_ttt.runtime import devices


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Network:
    """What the weights need to give values: the settings, and a table's positions.

    A pytree, so that the positions are data of a compiled program.
    """

    config: Config = dataclasses.field(metadata={"static": True})
    positions: Positions | None = None  # of a table only


def num_heads(config: Config) -> int:
    """Return how many values there are of an action: see `heads`."""
    return 1 + (config.backup == "two-ply" or double_table(config))


def double_table(config: Config) -> bool:
    """Return whether two tables learn in turn (van Hasselt 2010, Double Q-learning)."""
    return config.double and config.network == "table"


def learning_dtype(config: Config) -> DTypeLike:
    """Return what the learner's products take: the one place that decides "auto".

    bfloat16 only where the processor has units for it. A GPU's time at these sizes goes
    elsewhere than into products, and a TPU takes float32 as bfloat16 anyway.
    """
    if config.precision != "auto":
        return jnp.dtype(config.precision)
    amx = devices.current().platform == "cpu" and devices.has_amx()
    return jnp.dtype(jnp.bfloat16 if amx else jnp.float32)


def make(
    network: Network, rngs: nnx.Rngs, dtype: DTypeLike = jnp.float32
) -> MLP | Table:
    """Return the module of a network, its weights drawn from `rngs`.

    Raises:
        ValueError: it is a table without positions.
    """
    config = network.config
    planes, num_actions = pgx_games.sizes(config.env_id)
    if config.network == "table":
        if network.positions is None:
            raise ValueError("a table needs the positions of its game")
        sizes = (num_heads(config), num_actions)
        return Table(config.table_key, network.positions, *sizes, config.initial_value)
    hidden = [config.hidden_size] * config.hidden_layers
    sizes = [int(np.prod(planes)), *hidden, num_heads(config) * num_actions]
    return MLP(sizes, config.activation, rngs, dtype)


def init_params(network: Network, key: Key[Array, ""]) -> nnx.State:
    """Return fresh weights; `key` is consumed."""
    return nnx.state(make(network, nnx.Rngs(key)), nnx.Param)


def q_values(
    network: Network,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "B A"]:
    """Return the value of each action to the mover, illegal ones included.

    The learner passes its `dtype`, what the products take (`learning_dtype`). All else
    that asks, grades and proofs among it, reads the weights in float32, whatever
    `config.precision` they were learned in: an agent is graded and played alike
    wherever it is loaded.

    With `config.canonical` the network sees one view of all that are symmetric, and
    its values are mapped back to the board's own actions, so that they turn with it.
    """
    values = heads(network, params, obs, dtype)
    return values.mean(axis=0) if double_table(network.config) else values[0]


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
    config = network.config
    planes = pgx_games.planes(config.env_id, obs)
    views = symmetry.views(config.env_id)
    # After-states that are symmetric share a row already.
    whole = config.network == "table" and config.table_key == "after-state"
    if not config.canonical or whole or views is None:
        return _forward(network, params, planes, dtype)
    least = least_views(planes, views)
    values = _forward(network, params, turned(planes, views, least), dtype)
    return turned_back(values, views, least)


def _forward(
    network: Network,
    params: nnx.State,
    planes: Float[Array, "B H W C"],
    dtype: DTypeLike,
) -> Float[Array, "heads B A"]:
    """Return the values of boards as they are."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: make(network, nnx.Rngs(0), dtype)))
    module = nnx.merge(graph, params)
    if network.positions is None:
        values = module(planes)
    else:
        values = module(planes, network.positions)
    return jnp.stack(jnp.split(values, num_heads(network.config), axis=-1))


DIGITS = 15
"""Digits in base 3 that a float32 holds exactly."""


def least_views(planes: Float[Array, "B H W C"], views: Views) -> Bool[Array, "B G"]:
    """Return which views of each board are its canonical one.

    That is the view whose entries, -1, 0 or 1 and read as digits in base 3, the last
    one first, make the least number; on a board that is its own image, several. The
    numbers of every view of every board are one product, exact as a number has at most
    `DIGITS` digits; longer ones are compared part by part.
    """
    num_boards, *shape = planes.shape
    num_views, channels = len(views.cells), shape[-1]
    entries = views.cells[:, :, None] * channels + np.arange(channels)
    order = entries.reshape(num_views, -1)  # of the board's entries, as the view shows
    num_parts = -(-order.shape[1] // DIGITS)
    digits = np.zeros((order.shape[1], num_views, num_parts), np.float32)
    for rank in range(order.shape[1]):
        worth = 3.0 ** (rank % DIGITS)
        digits[order[:, rank], np.arange(num_views), rank // DIGITS] = worth
    flat = planes.reshape(num_boards, -1)
    numbers = jnp.dot(flat, digits.reshape(len(flat[0]), -1), precision="highest")
    numbers = numbers.reshape(num_boards, num_views, num_parts)
    *lower, highest = (numbers[..., part] for part in range(num_parts))
    least = highest == highest.min(axis=-1, keepdims=True)
    for number in reversed(lower):
        number = jnp.where(least, number, jnp.inf)
        least &= number == number.min(axis=-1, keepdims=True)
    return least


def turned(
    planes: Float[Array, "B H W C"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "B H W C"]:
    """Return the canonical view of each board."""
    cells = jnp.asarray(views.cells)[jnp.argmax(least, axis=-1)]
    flat = planes.reshape(planes.shape[0], -1, planes.shape[-1])
    seen = jnp.take_along_axis(flat, cells[..., None], axis=1)
    return seen.reshape(planes.shape)


def turned_back(
    values: Float[Array, "heads B A"], views: Views, least: Bool[Array, "B G"]
) -> Float[Array, "heads B A"]:
    """Return the values of the board's actions from those of its canonical view.

    Actions that mirror each other, on a board that is its own mirror image, share one.
    """
    inverse = np.argsort(views.actions, axis=-1)[None]
    back = jnp.where(least[..., None], inverse, values.shape[-1]).min(axis=1)
    return jnp.take_along_axis(values, jnp.broadcast_to(back, values.shape), axis=-1)
