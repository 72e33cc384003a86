"""The network that values actions, and the one way to ask it.

Axes: `B` boards, `F` features, `A` actions, `H` values of an action, `V` = `H * A`.
"""

import itertools
from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, Key, Shaped

from jax_ttt.config.settings import Activation, Config
from jax_ttt.envs import pgx_games, symmetry
from jax_ttt.envs import tree as trees
from jax_ttt.networks import mlp

_ACTIVATIONS = {"relu": nnx.relu, "tanh": nnx.tanh, "sigmoid": nnx.sigmoid}


class MLP(nnx.Module):
    """Hidden layers of one size; tanh keeps the values within the rewards' range.

    `dtype` is what the products take.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: Activation,
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ) -> None:
        parts: list[Callable] = []
        for num_in, num_out in itertools.pairwise(sizes):
            parts.append(mlp.Columns(num_in, num_out, dtype=dtype, rngs=rngs))
            parts.append(_ACTIVATIONS[activation])
        self.layers = nnx.Sequential(*parts[:-1], nnx.tanh)

    def __call__(self, features: Float[Array, "B F"]) -> Float[Array, "B V"]:
        """Return the values, -1 to 1."""
        return self.layers(features.T).T


class Table(nnx.Module):
    """A row of values for each board, and how a board's row is found.

    `key` "position": a row for each of the game's positions, with a value for each
    action; "hash": for each board of stones, numbered in base 3; "after-state": for
    each position, with one value, that of the moves which lead to it.
    """

    def __init__(self, config: Config) -> None:
        self.env_id, self.table_key = config.env_id, config.table_key
        self.canonical = config.canonical
        num_rows = 3 ** pgx_games.sizes(config.env_id)[0]
        if config.table_key != "hash":
            num_rows = trees.walked(config.env_id).num_positions
        num_actions = 1
        if config.table_key != "after-state":
            num_actions = pgx_games.sizes(config.env_id)[1]
        shape = num_rows, num_heads(config) * num_actions
        self.values = nnx.Param(jnp.full(shape, config.initial_value))

    def __call__(self, features: Float[Array, "B F"]) -> Float[Array, "B V"]:
        """Return the values of the boards."""
        values, number = self.values[...], pgx_games.board_number(features)
        if self.table_key == "hash":
            return values[number]
        position = jnp.asarray(trees.index(self.env_id))[number]
        if self.table_key == "position":
            return values[position]
        after = jnp.asarray(symmetry.after_states(self.env_id, self.canonical))[
            position
        ]
        found = values[after]  # (B, A, H)
        return found.swapaxes(1, 2).reshape(len(found), -1)


def num_heads(config: Config) -> int:
    """Return how many values there are of an action: see `heads`."""
    return 1 + (config.backup == "two-ply" or double_table(config))


def double_table(config: Config) -> bool:
    """Return whether two tables learn in turn (van Hasselt 2010, Double Q-learning)."""
    return config.double and config.network == "table"


def make(config: Config, rngs: nnx.Rngs, dtype: DTypeLike = jnp.float32) -> MLP | Table:
    """Return the network for `config`, its weights drawn from `rngs`."""
    if config.network == "table":
        return Table(config)
    num_features, num_actions = pgx_games.sizes(config.env_id)
    hidden = [config.hidden_size] * config.hidden_layers
    sizes = [num_features, *hidden, num_heads(config) * num_actions]
    return MLP(sizes, config.activation, rngs, dtype)


def init_params(config: Config, key: Key[Array, ""]) -> nnx.State:
    """Return fresh weights; `key` is consumed."""
    return nnx.state(make(config, nnx.Rngs(key)), nnx.Param)


def q_values(
    config: Config,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "B A"]:
    """Return the value of each action to the mover, illegal ones included.

    The learner passes its `dtype`, what the products take (`layers.learning_dtype`).
    All else that asks, grades and proofs among it, reads the weights in float32,
    whatever `config.precision` they were learned in: an agent is graded and played
    alike wherever it is loaded.

    With `config.canonical` the network sees one view of all that are symmetric, and
    its values are mapped back to the board's own cells, so that they turn with it.
    """
    values = heads(config, params, obs, dtype)
    return values.mean(axis=0) if double_table(config) else values[0]


def heads(
    config: Config,
    params: nnx.State,
    obs: Shaped[Array, "B *shape"],
    dtype: DTypeLike = jnp.float32,
) -> Float[Array, "H B A"]:
    """Return all that the network says of each action.

    That is one value (`H` 1), its value to the mover; with a two-ply backup a second
    one, its value to the one who waits; of double tables, what each of the two says.
    """
    graph = nnx.graphdef(nnx.eval_shape(lambda: make(config, nnx.Rngs(0), dtype)))
    network = nnx.merge(graph, params)
    features = pgx_games.features(obs)
    views = pgx_games.symmetries(config.env_id)
    # After-states that are symmetric share a row already.
    whole = config.network == "table" and config.table_key == "after-state"
    if not config.canonical or whole or len(views) == 1:
        return _split(network(features), num_heads(config))
    cells, back = canonical(features, views)
    values = network(jnp.take_along_axis(features, cells, axis=-1))
    split = _split(values, num_heads(config))
    return jnp.take_along_axis(split, jnp.broadcast_to(back, split.shape), axis=-1)


def _split(values: Float[Array, "B V"], num_heads: int) -> Float[Array, "H B A"]:
    return jnp.stack(jnp.split(values, num_heads, axis=-1))


def canonical(
    features: Float[Array, "B F"], views: Int[np.ndarray, "G F"]
) -> tuple[Int[Array, "B F"], Int[Array, "B F"]]:
    """Return the cells of each board's canonical view, and the way back.

    It is the view whose cells, read as digits in base 3, make the least number; cell
    `i` of the board stands at `back[i]` in it. Cells that mirror each other, on a board
    that is its own mirror image, stand at one place. One product numbers every view of
    every board, exactly while `3**F < 2**24`.
    """
    digits = np.zeros(views.shape[::-1], np.float32)
    for number, view in zip(digits.T, views, strict=True):
        number[view] = 3.0 ** np.arange(len(view))
    number = jnp.dot(features, digits, precision="highest")
    cells = jnp.asarray(views)[jnp.argmin(number, axis=-1)]
    least = number == number.min(axis=-1, keepdims=True)
    inverse = np.argsort(views, axis=-1)[None]
    back = jnp.where(least[..., None], inverse, len(views[0])).min(axis=1)
    return cells, back
