"""The file of an agent: the agent that is read is the one that was saved."""

import dataclasses

import numpy as np
import pytest

from jax_ttt.files import agent_file, tensor_file
from jax_ttt.files.tensor_file import AgentError, TensorFile


@pytest.fixture
def path(agent, tmp_path):
    path = tmp_path / "agent.safetensors"
    path.write_bytes(agent_file.encode_agent(agent))
    return path


def test_an_agent_is_read_as_it_was_saved(agent, path):
    read = agent_file.read_agent(path)
    assert read.description == agent.description
    assert read.tensors.keys() == agent.tensors.keys()
    for name, tensor in agent.tensors.items():
        assert read.tensors[name].tobytes() == tensor.tobytes()
    assert agent_file.read_env_id(path) == "tic_tac_toe"
    assert agent_file.encode_agent(read) == path.read_bytes()


@pytest.mark.fault
def test_weights_that_are_not_finite_are_neither_saved_nor_read(agent, path):
    name = "layers.layers.0.bias"
    bad = agent.tensors[name].copy()
    bad[-1] = np.nan
    poisoned = agent._replace(tensors=agent.tensors | {name: bad})
    with pytest.raises(FloatingPointError, match=f"{name} is not finite"):
        agent_file.encode_agent(poisoned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agent_file.np, "isfinite", np.ones_like)
        path.write_bytes(agent_file.encode_agent(poisoned))
    with pytest.raises(AgentError, match=f"{path}: {name} has a weight that is not"):
        agent_file.read_agent(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "checkpoint"}, "kind"),
        ({"config": {"env_id": "chess"}}, "made for 'chess', a game that is"),
        ({"seed": 2**32}, "seed"),
        ({"num_updates": -1}, "num_updates"),
        ({"config": {"gamma": 7.0}}, r"\$.config.gamma"),
        ({"grade": {"env_id": "hex", "first": {}}}, "grade.first"),
    ],
)
@pytest.mark.fault
def test_a_description_with_a_wrong_field_is_refused(changes, message, path):
    fields, tensors = tensor_file.read_tensors(path, dict[str, object])
    fields |= changes
    kinds = [(name, type(value)) for name, value in fields.items()]
    metadata = dataclasses.make_dataclass(
        "Metadata", kinds, bases=(TensorFile,), frozen=True, kw_only=True
    )(**fields)
    path.write_bytes(tensor_file.encode_tensors(metadata, tensors))
    with pytest.raises(AgentError, match=f"{path}: .*{message}"):
        agent_file.read_agent(path)
