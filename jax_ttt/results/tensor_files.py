"""Files of tensors with a description: the format of saved agents and snapshots.

They are safetensors files, and the same contents give the same bytes. Everything that a
file says of its sizes is checked before its tensors are read. Needs no JAX.
"""

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeGuard

import numpy as np
import safetensors.numpy

from jax_ttt.config.errors import PlayerError, SettingError
from jax_ttt.config.settings import READABLE
from jax_ttt.results import plain, reading
from jax_ttt.results.plain import JsonObject

MAX_BYTES = reading.MOST_TENSORS
MAX_HEADER_BYTES = reading.MOST_JSON
_KEY = "jax_ttt"  # one entry: safetensors writes several in no fixed order
_WHOLE_DIGEST = 3
"""The format version from which the checksum covers the description too."""
_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"},
    **{"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1"},
}
"""NumPy's name of each dtype that is read, by safetensors' name."""


class AgentError(PlayerError):
    """An agent file is unusable; the message names the file and the reason."""


class TensorSpec(NamedTuple):
    """What a file says of a tensor."""

    dtype: np.dtype
    shape: tuple[int, ...]


class TensorFile(NamedTuple):
    """An open file whose header was read and checked; the tensors are not read yet."""

    path: Path
    about: JsonObject
    """The description; the caller checks what it holds."""
    specs: dict[str, TensorSpec]
    """The tensors, in the order of their bytes in the file."""
    file: BinaryIO

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the tensors, which can't be written to.

        Raises:
            AgentError: a tensor, or from format 3 on the description, was changed after
                the file was saved.
        """
        found: dict[str, np.ndarray] = {}
        for name, (dtype, shape) in self.specs.items():
            size = math.prod(shape) * dtype.itemsize
            content = self.file.read(size)
            if len(content) < size:  # it was shortened meanwhile
                raise _damaged(self.path, "it ends early")
            try:
                found[name] = np.ndarray(shape, dtype, content)
            except ValueError as error:  # an empty one of impossible sizes
                raise _damaged(self.path, error) from None
            if dtype.kind == "b" and (found[name].view(np.uint8) > 1).any():
                raise _damaged(self.path, f"{name} has a byte that is no boolean")
        if self.about.get("sha256") != _digest(self.about, found):
            what = "its contents" if _is_whole(self.about) else "the weights"
            raise AgentError(f"{self.path}: {what} were changed after they were saved")
        return found


def as_bytes(about: JsonObject, tensors: dict[str, np.ndarray]) -> bytes:
    """Return a file of a description and tensors, which `contents` reads.

    The checksum is that of the description's `format_version`.
    """
    about = about | {"sha256": _digest(about, tensors)}
    return safetensors.numpy.save(tensors, {_KEY: _text(about)})


def contents(path: Path) -> tuple[JsonObject, dict[str, np.ndarray]]:
    """Return a file's description and tensors; the caller checks what they hold.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or it was changed.
    """
    with open_tensors(path) as file:
        return file.about, file.tensors()


def description(path: Path) -> JsonObject:
    """Return a file's description without its tensors; the caller checks what it holds.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    with open_tensors(path) as file:
        return file.about


@contextlib.contextmanager
def open_tensors(path: Path) -> Iterator[TensorFile]:
    """Open a file, and check its header.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    try:
        with reading.open_bounded(path, MAX_BYTES) as file:
            about, specs = _header(path, file)
            yield TensorFile(path, about, specs, file)
    except reading.UnreadableError as error:
        raise AgentError(f"{path}: {error}") from error


@contextlib.contextmanager
def describing(path: Path) -> Iterator[None]:
    """Name the file in errors that its description causes meanwhile."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, SettingError) else repr(error)
        reason = reading.one_line(reason)
        raise AgentError(f"{path}: damaged description ({reason})") from error


def _damaged(path: Path, reason: object) -> AgentError:
    return AgentError(
        f"{path}: damaged, or not a file of jax_ttt ({reading.one_line(reason)})"
    )


def _header(path: Path, file: BinaryIO) -> tuple[JsonObject, dict[str, TensorSpec]]:
    """Return the description and the tensors that the first bytes of a file name."""
    total = file.seek(0, 2)
    file.seek(0)
    size = int.from_bytes(file.read(8), "little")
    if total < 8 or size > min(total - 8, MAX_HEADER_BYTES):
        raise _damaged(path, "it has no header of a possible size")
    try:
        header = reading.strict_json(file.read(size))
        if not isinstance(header, dict):
            raise ValueError("its header is no object")
        metadata = header.pop("__metadata__", None)
        specs = _specs(header, total - 8 - size)
    except ValueError as error:
        raise _damaged(path, error) from error
    return _about(path, metadata), specs


def _specs(header: JsonObject, size: int) -> dict[str, TensorSpec]:
    """Return the tensors of a header; together they must fill `size` bytes.

    Raises:
        ValueError: an entry is of another form, or the bytes of the tensors overlap,
            leave some out, or are more or fewer than their shapes need.
    """
    found: dict[tuple[int, int, str], TensorSpec] = {}
    for name, entry in header.items():
        if not isinstance(entry, dict) or len(entry) != 3:
            raise ValueError("an entry of its header is no tensor")
        dtype = _DTYPES.get(str(entry.get("dtype")))
        shape = entry.get("shape")
        if dtype is None or not _is_sizes(shape):
            raise ValueError(f"{name!r} has an unknown dtype or no shape")
        offsets = entry.get("data_offsets")
        if not _is_sizes(offsets) or len(offsets) != 2:
            raise ValueError(f"{name!r} has no offsets")
        found[offsets[0], offsets[1], name] = TensorSpec(np.dtype(dtype), tuple(shape))
    place = 0
    for (begin, end, name), spec in sorted(found.items(), key=lambda item: item[0]):
        if begin != place or end - begin != math.prod(spec.shape) * spec.dtype.itemsize:
            raise ValueError(f"{name!r} has the offsets of another shape or order")
        place = end
    if place != size:
        raise ValueError(f"its tensors have {place:,} bytes, but {size:,} are there")
    return {name: found[begin, end, name] for begin, end, name in sorted(found)}


def _is_sizes(value: object) -> TypeGuard[list[int]]:
    """Return whether a value is a list of a few whole numbers from 0."""
    if not isinstance(value, list) or len(value) > 32:
        return False
    return all(type(size) is int and 0 <= size <= MAX_BYTES for size in value)


def _about(path: Path, metadata: object) -> JsonObject:
    """Return the description in a header if this program and version can read it."""
    if not isinstance(metadata, dict) or not isinstance(metadata.get(_KEY), str):
        raise AgentError(f"{path}: not saved by jax_ttt")
    try:
        about = reading.strict_json(metadata[_KEY])
    except ValueError as error:
        raise _damaged(path, error) from error
    if not isinstance(about, dict):
        raise AgentError(f"{path}: not saved by jax_ttt")
    version = about.get("format_version")
    if not reading.is_version(version, READABLE):
        raise AgentError(f"{path}: {reading.other_version(version, READABLE)}")
    # Else a description may differ from the one that the checksum is of.
    if _is_whole(about) and {_KEY: _text(about)} != metadata:
        raise _damaged(path, "its description is written in another way")
    return about


def _is_whole(about: JsonObject) -> bool:
    """Return whether the checksum of a file covers its description too."""
    return plain.field(about, "format_version", int) >= _WHOLE_DIGEST


def _text(about: JsonObject) -> str:
    return json.dumps(about, sort_keys=True, allow_nan=False)


def _digest(about: JsonObject, tensors: dict[str, np.ndarray]) -> str:
    """Return the SHA-256 of a file's contents except itself, by the file's version."""
    is_whole = _is_whole(about)
    about = {name: part for name, part in about.items() if name != "sha256"}
    found = hashlib.sha256(f"{_text(about)}\n".encode() if is_whole else b"")
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        head = f"{json.dumps([name, tensor.dtype.str, tensor.shape])}\n"
        found.update((head if is_whole else name).encode())
        found.update(tensor.tobytes())
    return found.hexdigest()
