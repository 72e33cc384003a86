"""Pytrees to flat dictionaries, and back."""

import jax

from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players.network import network_of
from jax_ttt.runtime import named_arrays


def test_the_weights_of_a_network_have_the_names_of_the_file():
    network = network_of(Config.of(hidden_size=4, hidden_layers=1).architecture)
    params = q_network.init_params(network, jax.random.key(0))
    layers = [
        f"layers.layers.{i}.{part}" for i in (0, 2) for part in ("bias", "kernel")
    ]
    assert list(named_arrays.flat(params)) == layers
