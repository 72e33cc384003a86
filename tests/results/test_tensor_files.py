"""Files of tensors with a description: what is read is what was written."""

import hashlib
import os

import numpy as np
import pytest

from jax_ttt.config.settings import FORMAT_VERSION
from jax_ttt.results import tensor_files
from jax_ttt.results.tensor_files import AgentError

ABOUT = {"format_version": FORMAT_VERSION, "env_id": "tic_tac_toe", "seed": 1}
TENSORS = {"values": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.ones(2)}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.safetensors"
    path.write_bytes(tensor_files.as_bytes(ABOUT, TENSORS))
    return path


def test_a_file_holds_the_description_and_every_tensor(path):
    about, tensors = tensor_files.contents(path)
    assert about.items() > ABOUT.items()
    assert tensor_files.description(path) == about
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert (tensors[name] == tensor).all()


def test_the_same_contents_give_the_same_bytes(path):
    other_order = dict(reversed(TENSORS.items()))
    assert tensor_files.as_bytes(ABOUT, other_order) == path.read_bytes()


def test_any_changed_bit_of_the_weights_is_refused(path):
    whole = path.read_bytes()
    for back in (1, 9, 40):
        changed = bytearray(whole)
        changed[-back] ^= 1
        path.write_bytes(changed)
        with pytest.raises(AgentError, match="changed after they were saved"):
            tensor_files.contents(path)


@pytest.mark.parametrize("version", [1, 2])
def test_the_checksum_of_older_formats_is_of_the_weights_only(version, path):
    about = ABOUT | {"format_version": version}
    path.write_bytes(tensor_files.as_bytes(about, TENSORS))
    found = tensor_files.contents(path)[0]
    (_, first), (_, second) = sorted(TENSORS.items())
    content = b"n" + first.tobytes() + b"values" + second.tobytes()
    assert found["sha256"] == hashlib.sha256(content).hexdigest()


def test_names_shapes_and_dtypes_are_part_of_the_checksum():
    tensor = np.zeros((2, 3), np.float32)
    others = (
        *({"a": tensor}, {"b": tensor}, {"a": tensor.T}, {"a": tensor.reshape(6)}),
        *({"a": tensor.view(np.int32)}, {"a": tensor[:1], "b": tensor[1:]}),
    )
    digests = {tensor_files._digest(ABOUT, tensors) for tensors in others}
    assert len(digests) == len(others)


def test_a_byte_that_is_no_boolean_is_refused(path):
    mask = np.array([True, False])
    odd = mask.view(np.uint8) * 2
    path.write_bytes(tensor_files.as_bytes(ABOUT, {"a": odd.view(bool)}))
    with pytest.raises(AgentError, match="no boolean"):
        tensor_files.contents(path)


def test_a_file_that_shrinks_while_it_is_open_is_refused(path):
    path.write_bytes(tensor_files.as_bytes(ABOUT, {"a": np.zeros(10**6)}))
    with tensor_files.open_tensors(path) as file:
        os.truncate(path, path.stat().st_size - 8)
        with pytest.raises(AgentError, match="ends early"):
            file.tensors()


def test_a_large_file_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(tensor_files, "MAX_BYTES", 10)
    with pytest.raises(AgentError, match="larger than 10 bytes"):
        tensor_files.contents(path)


def test_a_header_longer_than_allowed_is_refused(path):
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, rest = content[8 : 8 + size], content[8 + size :]
    for length, refused in (
        (tensor_files.MAX_HEADER_BYTES, False),
        (tensor_files.MAX_HEADER_BYTES + 1, True),
    ):
        padded = header.ljust(length)
        path.write_bytes(length.to_bytes(8, "little") + padded + rest)
        if refused:
            with pytest.raises(AgentError, match="no header of a possible size"):
                tensor_files.contents(path)
        else:
            tensor_files.contents(path)
