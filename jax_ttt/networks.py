"""The network that values actions, and the one way to ask it.

Axes: `B` boards, `F` features, `A` actions.
"""

import itertools
from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int, Key, Shaped

from jax_ttt import games
from jax_ttt.config import Activation, Config

_ACTIVATIONS = {"relu": nnx.relu, "tanh": nnx.tanh, "sigmoid": nnx.sigmoid}


class MLP(nnx.Module):
    """Hidden layers of one size; tanh keeps the values within the rewards' range."""

    def __init__(
        self, sizes: Sequence[int], activation: Activation, rngs: nnx.Rngs
    ) -> None:
        layers: list[Callable] = []
        for num_in, num_out in itertools.pairwise(sizes):
            layers += [nnx.Linear(num_in, num_out, rngs=rngs), _ACTIVATIONS[activation]]
        self.layers = nnx.Sequential(*layers[:-1], nnx.tanh)

    def __call__(self, features: Float[Array, "B F"]) -> Float[Array, "B A"]:
        """Return the value of each action to the mover, -1 to 1."""
        return self.layers(features)


class Table(nnx.Module):
    """A row of values for each of the boards of stones, numbered in base 3."""

    def __init__(self, num_features: int, num_actions: int, value: float) -> None:
        self.values = nnx.Param(jnp.full((3**num_features, num_actions), value))

    def __call__(self, features: Float[Array, "B F"]) -> Float[Array, "B A"]:
        """Return the value of each action to the mover."""
        return self.values[...][games.board_number(features)]


def make(config: Config, rngs: nnx.Rngs) -> MLP | Table:
    """Return the network for `config`, its weights drawn from `rngs`."""
    num_features, num_actions = games.sizes(config.env_id)
    if config.network == "table":
        return Table(num_features, num_actions, config.initial_value)
    hidden = [config.hidden_size] * config.hidden_layers
    return MLP([num_features, *hidden, num_actions], config.activation, rngs)


def init_params(config: Config, key: Key[Array, ""]) -> nnx.State:
    """Return fresh weights; `key` is consumed."""
    return nnx.state(make(config, nnx.Rngs(key)), nnx.Param)


def q_values(
    config: Config, params: nnx.State, obs: Shaped[Array, "B *shape"]
) -> Float[Array, "B A"]:
    """Return the value of each action to the mover, illegal ones included.

    With `config.canonical` the network sees one view of all that are symmetric, and
    its values are mapped back to the board's own cells. On a board that is its own
    mirror image, cells that mirror each other may differ: the network need not be
    symmetric.
    """
    graph = nnx.graphdef(nnx.eval_shape(lambda: make(config, nnx.Rngs(0))))
    network = nnx.merge(graph, params)
    features = games.features(obs)
    views = games.symmetries(config.env_id)
    if not config.canonical or len(views) == 1:
        return network(features)
    view = canonical_view(features, views)
    cells = jnp.asarray(views)[view]
    inverse = jnp.asarray(np.argsort(views, axis=-1))[view]
    values = network(jnp.take_along_axis(features, cells, axis=-1))
    return jnp.take_along_axis(values, inverse, axis=-1)


def canonical_view(
    features: Float[Array, "B F"], views: Int[np.ndarray, "G F"]
) -> Int[Array, " B"]:
    """Return the view whose cells, read as digits in base 3, make the least number.

    One product numbers every view of every board, exactly while `3**F < 2**24`.
    """
    digits = np.zeros(views.shape[::-1], np.float32)
    for number, view in zip(digits.T, views, strict=True):
        number[view] = 3.0 ** np.arange(len(view))
    return jnp.argmin(jnp.dot(features, digits, precision="highest"), axis=-1)
