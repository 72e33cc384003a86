"""Files of tensors with a description: what is read is what was written.

`tests/faults/test_damaged_files.py` has those that are refused.
"""

import dataclasses
import hashlib
import json

import numpy as np
import pytest
import safetensors.numpy

from jax_ttt.config.errors import AgentError
from jax_ttt.files import tensor_file
from jax_ttt.files.tensor_file import TensorFile


@dataclasses.dataclass(frozen=True, kw_only=True)
class Description(TensorFile):
    """What a file is about; its values must be finite."""

    must_be_finite = ("val",)
    env_id: str
    seed: int


DESCRIPTION = Description(env_id="tic_tac_toe", seed=1)
TENSORS = {
    "values": np.arange(6, dtype=np.float32).reshape(2, 3),
    "n": np.array(7, np.int64),
    "mask": np.array([True, False]),
    "none": np.zeros((0, 4), np.uint32),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.safetensors"
    path.write_bytes(tensor_file.encode_tensors(DESCRIPTION, TENSORS))
    return path


def described(path):
    """Return the description of a file as it stands there."""
    with safetensors.safe_open(path, framework="numpy") as file:
        return file.metadata()["jax_ttt"]


def test_a_file_holds_the_description_and_every_tensor(path):
    description, tensors = tensor_file.read_tensors(path, Description)
    assert description == DESCRIPTION
    assert tensor_file.read_description(path, Description) == DESCRIPTION
    assert tensors.keys() == safetensors.numpy.load_file(path).keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], tensor, name, strict=True)


def test_the_same_contents_give_the_same_bytes(path):
    other_order = dict(reversed(TENSORS.items()))
    assert tensor_file.encode_tensors(DESCRIPTION, other_order) == path.read_bytes()


@pytest.mark.fault
def test_values_that_are_not_finite_are_neither_written_nor_read(path, monkeypatch):
    nan = np.array([0, np.nan], np.float32)
    path.write_bytes(tensor_file.encode_tensors(DESCRIPTION, TENSORS | {"other": nan}))
    assert "other" in tensor_file.read_tensors(path, Description)[1]
    bad = TENSORS | {"values": nan}
    with pytest.raises(FloatingPointError, match="values is not finite"):
        tensor_file.encode_tensors(DESCRIPTION, bad)
    with monkeypatch.context() as patch:
        patch.setattr(Description, "must_be_finite", ())
        path.write_bytes(tensor_file.encode_tensors(DESCRIPTION, bad))
    with pytest.raises(AgentError, match=f"{path}: values is not finite"):
        tensor_file.read_tensors(path, Description)


def test_the_checksum_is_the_one_that_the_page_on_files_describes(path):
    text = described(path)
    fields = json.loads(text)
    assert text == json.dumps(fields, sort_keys=True)
    checksum = fields.pop("sha256")
    content = json.dumps(fields, sort_keys=True).encode()
    for name, tensor in sorted(TENSORS.items()):
        head = json.dumps([name, tensor.dtype.str, tensor.shape])
        content += f"\n{head}\n".encode() + tensor.tobytes()
    assert checksum == hashlib.sha256(content).hexdigest()


@pytest.mark.fault
def test_a_file_that_is_too_large_is_neither_read_nor_written(path, monkeypatch):
    size = path.stat().st_size
    monkeypatch.setattr(tensor_file, "MAX_BYTES", size)
    tensor_file.encode_tensors(DESCRIPTION, TENSORS)
    monkeypatch.setattr(tensor_file, "MAX_BYTES", size - 1)
    with pytest.raises(OverflowError, match=f"it has {size:,} bytes; at most"):
        tensor_file.encode_tensors(DESCRIPTION, TENSORS)
    with pytest.raises(AgentError, match=f"larger than {size - 1:,} bytes"):
        tensor_file.read_tensors(path, Description)
