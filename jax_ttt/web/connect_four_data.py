"""The agents of Connect Four as JSON: the page computes their values by itself."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from jax_ttt.config.catalogue import GAMES
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.networks import convolution
from jax_ttt.players import agents
from jax_ttt.players.agents import Agent, AgentError
from jax_ttt.players.shipped import CONNECT_FOUR
from jax_ttt.web import tree_data

COMPUTED = {
    "network": "mlp",
    "heads": "value",
    "canonical": True,
    "two_planes": True,
    "activation": "relu",
}
"""The networks that `static/network.js` computes, as fields of the architecture."""


def connect_four_json() -> JsonObject:
    """Return the shipped agents of Connect Four, as the page takes them.

    Raises:
        AgentError: a file is damaged, or its network is not one of `COMPUTED`.
    """
    loaded = {name: agents.load_agent(path) for name, path in CONNECT_FOUR.items()}
    return {"agents": [network_json(name, agent) for name, agent in loaded.items()]}


def network_json(name: str, agent: Agent) -> JsonObject:
    """Return an agent with its game and weights.

    Kernels (inputs, outputs) and biases are base64 of little-endian float32. Filters
    become a linear layer.

    Raises:
        AgentError: the agent's game or network is not one that the page computes.
    """
    architecture = agent.config.architecture
    game = GAMES[architecture.env_id]
    if game.in_a_row is None or game.moves_on != "columns":
        raise AgentError(f"{name}: the page has no rules of {architecture.env_id}")
    found = {"heads": architecture.heads, **dataclasses.asdict(architecture.network)}
    for field, known in COMPUTED.items():
        if found[field] != known:
            reason = f"the page computes {field} {known}, not {found[field]}"
            raise AgentError(f"{name}: {reason}")
    rows, columns = game.shape
    return {
        "id": name,
        "rows": rows,
        "columns": columns,
        "in_a_row": game.in_a_row,
        "gamma": agent.config.target.gamma,
        "grade": records.to_dict(agent.score),
        "layers": _layers(agents.tensors_of(agent.params), (rows, columns, 2)),
    }


def _layers(
    tensors: Mapping[str, np.ndarray], shape: tuple[int, int, int]
) -> list[dict[str, str]]:
    """Return the layers in their order; a layer's number stands in its name."""
    names = {name.rpartition(".")[0] for name in tensors if name.startswith("layers.")}
    names = sorted(names, key=lambda name: int(name.split(".")[-1]))
    layers = [(tensors[f"{name}.kernel"].T, tensors[f"{name}.bias"]) for name in names]
    if "convolution.filters.kernel" in tensors:
        kernel = convolution.as_linear(tensors["convolution.filters.kernel"].T, shape)
        layers.insert(0, (kernel, tensors["convolution.bias"].reshape(-1)))
    encoded = ([tree_data.encoded(x, "<f4") for x in layer] for layer in layers)
    return [{"kernel": kernel, "bias": bias} for kernel, bias in encoded]
