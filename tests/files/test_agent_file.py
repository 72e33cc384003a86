"""The file of an agent: what is read is what was saved, or nothing."""

import dataclasses

import numpy as np
import pytest

from jax_ttt.files import agent_file, tensor_file
from jax_ttt.files.tensor_file import AgentError


@pytest.fixture
def path(agent, tmp_path):
    path = tmp_path / "agent.safetensors"
    path.write_bytes(agent_file.encode_agent(agent))
    return path


def test_an_agent_is_read_as_it_was_saved(agent, path):
    found = agent_file.read_agent(path)
    assert dataclasses.replace(found, tensors={}) == dataclasses.replace(
        agent, tensors={}
    )
    assert found.tensors.keys() == agent.tensors.keys()
    for name, tensor in agent.tensors.items():
        assert found.tensors[name].tobytes() == tensor.tobytes()
    assert agent_file.read_env_id(path) == "tic_tac_toe"


def test_the_same_agent_gives_the_same_bytes(agent, path):
    assert agent_file.encode_agent(agent_file.read_agent(path)) == path.read_bytes()
    reversed_order = dict(reversed(agent.tensors.items()))
    other = dataclasses.replace(agent, tensors=reversed_order)
    assert agent_file.encode_agent(other) == path.read_bytes()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.fault
def test_weights_that_are_not_finite_are_neither_saved_nor_read(
    number, agent, path, monkeypatch
):
    name = "layers.layers.0.bias"
    bad = agent.tensors[name].copy()
    bad[-1] = number
    poisoned = dataclasses.replace(agent, tensors=agent.tensors | {name: bad})
    with pytest.raises(FloatingPointError, match=f"{name} is not finite"):
        agent_file.encode_agent(poisoned)
    with monkeypatch.context() as patch:
        patch.setattr(agent_file.np, "isfinite", np.ones_like)
        path.write_bytes(agent_file.encode_agent(poisoned))
    with pytest.raises(AgentError, match=f"{path}: {name} has a weight that is not"):
        agent_file.read_agent(path)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "checkpoint"}, "kind"),
        ({"env_id": "hex"}, "its game does not match its settings"),
        ({"env_id": "chess"}, "env_id"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"num_updates": -1}, "num_updates"),
        ({"config": {"gamma": 7.0}}, "gamma must be"),
        ({"score": {"env_id": "hex", "first": {}}}, "score.first"),
    ],
)
@pytest.mark.fault
def test_another_description_is_refused(changes, why, path):
    about, tensors = tensor_file.read_tensors(path, dict[str, object])
    kinds = [(name, type(value)) for name, value in (about | changes).items()]
    other = dataclasses.make_dataclass("Other", kinds)(**about | changes)
    path.write_bytes(tensor_file.encode_tensors(other, tensors))
    with pytest.raises(AgentError, match=f"{path}: .*{why}"):
        agent_file.read_agent(path)
