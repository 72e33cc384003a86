"""The agents of Connect Four as JSON: their games, weights and proof."""

import base64
import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import tiny

from jax_ttt.config.presets import PRESETS
from jax_ttt.players import agents
from jax_ttt.players.agents import AgentError
from jax_ttt.players.shipped import CONNECT_FOUR
from jax_ttt.web import connect_four_data


@pytest.fixture(scope="module")
def sent():
    """Return the agents as JSON by name, after the way through a file."""
    found = json.loads(json.dumps(connect_four_data.connect_four_json()))
    return {one["id"]: one for one in found["agents"]}


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_both_shipped_agents_have_their_board_and_their_discount(sent):
    assert sent.keys() == CONNECT_FOUR.keys()
    shapes = [(one["columns"], one["rows"], one["in_a_row"]) for one in sent.values()]
    assert shapes == [(5, 4, 4), (7, 6, 4)]
    for name, one in sent.items():
        assert one["gamma"] == PRESETS[name].target.gamma


def test_the_weights_are_those_of_the_files_layer_by_layer(sent):
    for name, path in CONNECT_FOUR.items():
        tensors = agents.tensors_of(agents.load_agent(path).params)
        layers, sizes = sent[name]["layers"], []
        numbers = sorted({int(n.split(".")[2]) for n in tensors if "layers" in n})
        before = len(layers) - len(numbers)  # the filters, if there are some
        for number, layer in zip(numbers, layers[before:], strict=True):
            (kernel,) = [t for n, t in tensors.items() if f".{number}.kernel" in n]
            (bias,) = [t for n, t in tensors.items() if f".{number}.bias" in n]
            sent_kernel = floats(layer["kernel"]).reshape(kernel.shape[::-1])
            np.testing.assert_array_equal(sent_kernel, kernel.T)
            np.testing.assert_array_equal(floats(layer["bias"]), bias)
            sizes += sent_kernel.shape
        cells = sent[name]["rows"] * sent[name]["columns"]
        assert sizes[-1] == sent[name]["columns"]
        first = [len(floats(layers[0][part])) for part in ("kernel", "bias")]
        assert first[0] == 2 * cells * first[1]


def test_filters_are_sent_as_a_linear_layer():
    agent = tiny.untrained(PRESETS["connect-5x4"].replace(hidden_size=8, filters=3))
    layers: Any = connect_four_data.network_json("a", agent)["layers"]
    sizes = [len(floats(layer["bias"])) for layer in layers]
    assert sizes == [6, 8, 8, 5]  # 3 filters, 2 patches
    kernels = [len(floats(layer["kernel"])) for layer in layers]
    assert kernels == [40 * 6, 6 * 8, 8 * 8, 8 * 5]


def test_only_a_proven_agent_is_called_unbeatable(sent):
    proven = sent["connect-5x4"]["grade"]
    assert proven["unbeatable"] is True
    assert proven["first"]["num_positions"] == 10222
    assert proven["second"]["num_positions"] == 15576
    assert "unbeatable" not in sent["connect-7x6"]["grade"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"activation": "tanh"}, "computes activation relu, not tanh"),
        ({"two_planes": False}, "computes two_planes True, not False"),
        ({"env_id": "connect_four"}, "has no rules of connect_four"),
    ],
    ids=str,
)
def test_a_network_that_the_page_does_not_compute_is_refused(fields, reason):
    config = PRESETS["connect-5x4"].replace(hidden_size=8, **fields)
    agent = tiny.untrained(PRESETS["connect-5x4"].replace(hidden_size=8))
    with pytest.raises(AgentError, match=reason) as error:
        connect_four_data.network_json("a", dataclasses.replace(agent, config=config))
    assert "\n" not in str(error.value)
