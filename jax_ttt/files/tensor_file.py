"""Files of tensors with a description: the format of agents and checkpoints.

They are safetensors files, and the same contents give the same bytes. The library
checks the header against the data. This module adds a limit of the size, a description
as JSON, a SHA-256 of everything, and one error for all faults.
"""

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import safetensors
import safetensors.numpy

from jax_ttt import __version__
from jax_ttt.config.errors import Refused
from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject, Versioned
from jax_ttt.runtime import atomic_files

MAX_BYTES = 2**30
"""Bytes of the largest file that is read; an agent's has about 100,000."""
_KEY = "jax_ttt"
"""The key of the description, the only metadata: safetensors writes several entries in
no fixed order, so that the same contents would give different bytes."""
RecordT = TypeVar("RecordT")
Tensors = dict[str, np.ndarray]
"""The tensors of a file, by name."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TensorFile(Versioned):
    """The metadata of a file of tensors."""

    writer: str = f"jax_ttt {__version__}"
    """The program that wrote it, with its version."""
    sha256: str = ""
    """Checksum of this object and of the tensors, in hexadecimal digits."""


class AgentError(Refused):
    """A file of tensors is unusable; the message names the file and the reason."""

    def __init__(self, message: str) -> None:
        """Keep the message in one line: texts of a file may have control characters."""
        super().__init__("".join(c if c.isprintable() else " " for c in message))


def encode_tensors(metadata: TensorFile, tensors: Tensors) -> bytes:
    """Return the contents of a file with its metadata and tensors.

    The checksum in the metadata is computed here.

    Raises:
        OverflowError: it would be larger than what can be read.
    """
    fields = json_records.to_dict(metadata)
    if isinstance(grade := fields.get("grade"), dict):
        grade.pop("by_file", None)  # the reader knows it: the same bytes for each copy
    del fields["sha256"]
    fields["sha256"] = _digest(fields, tensors)
    content = safetensors.numpy.save(tensors, {_KEY: _description_text(fields)})
    if len(content) > MAX_BYTES:
        raise OverflowError(f"it has {len(content):,} bytes; at most {MAX_BYTES:,}")
    return content


def read_tensors(path: Path, kind: type[RecordT]) -> tuple[RecordT, Tensors]:
    """Return a file's description, a record of this kind, and its tensors.

    Raises:
        AgentError: the file is missing or damaged, is of another kind or version, or
            was changed after it was saved.
    """
    with _open_file(path) as file:
        description = _parse_description(path, file)
        tensors = file.get_tensors()
    if description.pop("sha256", None) != _digest(description, tensors):
        raise AgentError(f"{path}: its contents were changed after they were saved")
    return _make_record(path, kind, description), tensors


def read_description(path: Path, kind: type[RecordT]) -> RecordT:
    """Return a file's description, a record of this kind; no tensor is read.

    Raises:
        AgentError: the file is missing or damaged, or of another kind or version.
    """
    with _open_file(path) as file:
        return _make_record(path, kind, _parse_description(path, file))


@contextlib.contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Turn a `ValueError` in the context into an `AgentError` that names the file."""
    try:
        yield
    except ValueError as error:
        raise AgentError(f"{path}: {error}") from error


@contextlib.contextmanager
def _open_file(path: Path) -> Iterator[safetensors.safe_open]:
    try:
        atomic_files.check_readable(path, MAX_BYTES)
    except atomic_files.UnreadableError as error:
        raise AgentError(f"{path}: {error}") from None
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            # Of two tensors with one name, the library takes the last.
            with path.open("rb") as header:
                length = int.from_bytes(header.read(8), "little")
                json_records.check_names_differ(header.read(length))
            yield file
    except (safetensors.SafetensorError, OSError, TypeError, ValueError) as error:
        if isinstance(error, AgentError):
            raise
        reason = str(error)[:200]
        raise AgentError(
            f"{path}: damaged, or not a file of jax_ttt ({reason})"
        ) from None


def _parse_description(path: Path, file: safetensors.safe_open) -> JsonObject:
    text = (file.metadata() or {}).get(_KEY)
    if text is None:
        raise AgentError(f"{path}: not saved by jax_ttt")
    with errors_naming(path):
        description = json_records.from_json(dict[str, object], text)
        json_records.check_names_differ(text)
        json_records.check_version(description)
    return description


def _make_record(path: Path, kind: type[RecordT], description: JsonObject) -> RecordT:
    with errors_naming(path):
        return json_records.from_dict(kind, description)


def _description_text(description: JsonObject) -> str:
    return json.dumps(description, sort_keys=True)


def _digest(description: JsonObject, tensors: Tensors) -> str:
    """Return the SHA-256 of a description and of tensors with their names and shapes.

    It does not depend on the order of the names, so it is the same before a file is
    written and after it is read.
    """
    digest = hashlib.sha256(_description_text(description).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        head = json.dumps([name, tensor.dtype.str, tensor.shape])
        digest.update(f"\n{head}\n".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()
