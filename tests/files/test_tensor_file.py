"""Files of tensors with a description: what is read is what was written."""

import dataclasses
import hashlib
import json
import os

import numpy as np
import pytest
import safetensors.numpy

from jax_ttt.files import tensor_file
from jax_ttt.files.tensor_file import AgentError


@dataclasses.dataclass(frozen=True, kw_only=True)
class About:
    """A description."""

    env_id: str
    seed: int


ABOUT = About(env_id="tic_tac_toe", seed=1)
TENSORS = {
    "values": np.arange(6, dtype=np.float32).reshape(2, 3),
    "n": np.array(7, np.int64),
    "mask": np.array([True, False]),
    "none": np.zeros((0, 4), np.uint32),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.safetensors"
    path.write_bytes(tensor_file.encode_tensors(ABOUT, TENSORS))
    return path


def test_a_file_holds_the_description_and_every_tensor(path):
    about, tensors = tensor_file.read_tensors(path, About)
    assert about == tensor_file.read_description(path, About) == ABOUT
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert tensors[name].shape == tensor.shape
        assert tensors[name].tobytes() == tensor.tobytes()


def test_the_file_is_one_of_safetensors(path):
    assert safetensors.numpy.load_file(path).keys() == TENSORS.keys()


def test_the_same_contents_give_the_same_bytes(path):
    other_order = dict(reversed(TENSORS.items()))
    assert tensor_file.encode_tensors(ABOUT, other_order) == path.read_bytes()


@pytest.mark.fault
def test_a_flipped_bit_is_refused(path):
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(AgentError, match=str(path)):
            tensor_file.read_tensors(path, About)


@pytest.mark.fault
def test_any_changed_bit_of_the_weights_is_a_change_after_saving(path):
    whole = path.read_bytes()
    for back in (1, 9, 20):
        changed = bytearray(whole)
        changed[-back] ^= 1
        path.write_bytes(changed)
        with pytest.raises(AgentError, match="changed after they were saved"):
            tensor_file.read_tensors(path, About)


@pytest.mark.fault
def test_a_truncated_file_is_refused(path):
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(AgentError, match=str(path)):
            tensor_file.read_tensors(path, About)


def test_names_shapes_and_dtypes_are_part_of_the_checksum(tmp_path):
    """So a file whose header was exchanged is refused, too."""
    tensor = np.zeros((2, 3), np.float32)
    others = (
        *({"a": tensor}, {"b": tensor}, {"a": tensor.T}, {"a": tensor.reshape(6)}),
        *({"a": tensor.view(np.int32)}, {"a": tensor[:1], "b": tensor[1:]}),
    )
    sums = set()
    for tensors in others:
        path = tmp_path / "file"
        path.write_bytes(tensor_file.encode_tensors(ABOUT, tensors))
        with safetensors.safe_open(path, framework="numpy") as file:
            sums.add(json.loads(file.metadata()["jax_ttt"])["sha256"])
    assert len(sums) == len(others)


def test_the_checksum_is_the_one_that_the_page_on_files_describes(path):
    with safetensors.safe_open(path, framework="numpy") as file:
        text = file.metadata()["jax_ttt"]
    about = json.loads(text)
    assert text == json.dumps(about, sort_keys=True)
    found = about.pop("sha256")
    content = json.dumps(about, sort_keys=True).encode()
    for name, tensor in sorted(TENSORS.items()):
        head = json.dumps([name, tensor.dtype.str, tensor.shape])
        content += f"\n{head}\n".encode() + tensor.tobytes()
    assert found == hashlib.sha256(content).hexdigest()


def rewritten(path, **changes):
    """Write the file again with these changes of its description."""
    with safetensors.safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["jax_ttt"]) | changes
    text = json.dumps(about, sort_keys=True)
    path.write_bytes(safetensors.numpy.save(TENSORS, {"jax_ttt": text}))


@pytest.mark.fault
def test_a_changed_description_is_refused(path):
    rewritten(path, seed=2)
    assert tensor_file.read_description(path, About).seed == 2  # without the tensors
    with pytest.raises(AgentError, match="changed after they were saved"):
        tensor_file.read_tensors(path, About)


@pytest.mark.parametrize("version", [1, 4, 6, 99, "5", None])
@pytest.mark.fault
def test_another_version_is_refused_by_its_number(version, path):
    rewritten(path, format_version=version)
    for read in (tensor_file.read_tensors, tensor_file.read_description):
        with pytest.raises(AgentError, match=f"format version {version}; this pro"):
            read(path, About)


@pytest.mark.fault
def test_a_description_without_a_field_is_refused(path):
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class More(About):
        """A description with one more field."""

        more: int

    for read in (tensor_file.read_tensors, tensor_file.read_description):
        with pytest.raises(AgentError, match=f"{path}: .*`more`"):
            read(path, More)


@pytest.mark.fault
def test_a_file_of_another_program_is_refused(path):
    for metadata in (None, {"format": "pt"}):
        path.write_bytes(safetensors.numpy.save(TENSORS, metadata))
        with pytest.raises(AgentError, match="not saved by jax_ttt"):
            tensor_file.read_tensors(path, About)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 9999, "NaN"])
@pytest.mark.fault
def test_a_description_that_is_no_object_is_refused(text, path):
    path.write_bytes(safetensors.numpy.save(TENSORS, {"jax_ttt": text}))
    for read in (tensor_file.read_tensors, tensor_file.read_description):
        with pytest.raises(AgentError, match=str(path)):
            read(path, About)


@pytest.mark.parametrize("content", [b"", b"{}", b"\0" * 64, b"\xff" * 64])
@pytest.mark.fault
def test_junk_is_refused_in_one_line(content, path):
    path.write_bytes(content)
    with pytest.raises(AgentError, match="damaged, or not a file of jax_ttt") as error:
        tensor_file.read_tensors(path, About)
    assert str(error.value).isprintable()


@pytest.mark.fault
def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path):
        with pytest.raises(AgentError, match="not a regular file"):
            tensor_file.read_description(path, About)
    with pytest.raises(AgentError, match="No such file"):
        tensor_file.read_description(tmp_path / "none", About)


@pytest.mark.fault
def test_a_large_file_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(tensor_file, "MAX_BYTES", 10)
    with pytest.raises(AgentError, match="larger than 10 bytes"):
        tensor_file.read_tensors(path, About)


def test_what_could_not_be_read_is_not_written(path, monkeypatch):
    size = path.stat().st_size
    monkeypatch.setattr(tensor_file, "MAX_BYTES", size)
    tensor_file.encode_tensors(ABOUT, TENSORS)
    monkeypatch.setattr(tensor_file, "MAX_BYTES", size - 1)
    with pytest.raises(OverflowError, match=f"it has {size:,} bytes; at most"):
        tensor_file.encode_tensors(ABOUT, TENSORS)
