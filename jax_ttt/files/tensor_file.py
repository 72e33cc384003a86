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
from typing import Annotated, ClassVar, Literal, TypeVar

import msgspec
import numpy as np
import safetensors
import safetensors.numpy

from jax_ttt import __version__
from jax_ttt.config.errors import AgentError
from jax_ttt.config.grade import Grade
from jax_ttt.config.ranges import Seed
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject, Versioned
from jax_ttt.runtime import atomic_files

CORRECTIONS = {"corrections.keys": "<u8", "corrections.actions": "|u1"}
"""The tensors of corrections in an agent's file, and their dtypes."""
MAX_BYTES = 2**30
"""Bytes of the largest file that is read; an agent's has about 100,000."""
_KEY = "jax_ttt"
"""The key of the description, the only metadata: safetensors writes several entries in
no fixed order, so that the same contents would give different bytes."""
_WRITER = f"jax_ttt {__version__}"
RecordT = TypeVar("RecordT")
Tensors = dict[str, np.ndarray]
"""The tensors of a file, by name."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TensorFile(Versioned):
    """The description in a file of tensors."""

    must_be_finite: ClassVar[tuple[str, ...]] = ("",)
    """Beginnings of the names of tensors whose numbers are finite; here all tensors."""
    writer: str = dataclasses.field(default=_WRITER, compare=False, repr=False)
    """The program that wrote it, with its version."""
    sha256: str = dataclasses.field(default="", compare=False, repr=False)
    """Checksum of this object and of the tensors, in hexadecimal digits."""


TensorFileT = TypeVar("TensorFileT", bound=TensorFile)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentDescription(TensorFile):
    """An agent without its weights: the entry `jax_ttt` in its file's metadata."""

    kind: Literal["agent"] = "agent"
    """The kind of file."""
    config: Config
    """The settings."""
    seed: Seed
    """Seed of all random numbers."""
    num_updates: Annotated[int, msgspec.Meta(ge=0)]
    """Updates that the agent learned from; fewer than in the settings if its training
    was stopped early."""
    grade: Grade = dataclasses.field(repr=False)
    """Its last evaluation."""


def encode_tensors(description: TensorFile, tensors: Tensors) -> bytes:
    """Return the contents of a file with its description and tensors.

    The writer and the checksum in the description are set here.

    Raises:
        FloatingPointError: a tensor that must be finite is not.
        OverflowError: it would be larger than what can be read.
    """
    if name := _first_not_finite(tensors, description.must_be_finite):
        raise FloatingPointError(f"{name} is not finite; nothing was saved")
    fields = json_records.to_dict(description) | {"writer": _WRITER}
    if isinstance(grade := fields.get("grade"), dict):
        grade.pop("by_file", None)  # the reader knows it: the same bytes for each copy
    del fields["sha256"]
    fields["sha256"] = _digest(fields, tensors)
    content = safetensors.numpy.save(tensors, {_KEY: _description_text(fields)})
    if len(content) > MAX_BYTES:
        raise OverflowError(f"it has {len(content):,} bytes; at most {MAX_BYTES:,}")
    return content


def read_tensors(path: Path, kind: type[TensorFileT]) -> tuple[TensorFileT, Tensors]:
    """Return a file's description, a record of this kind, and its tensors.

    Whether the tensors fit the description is not checked.

    Raises:
        AgentError: the file is missing or damaged, is of another kind or version, was
            changed after it was saved, or a tensor that must be finite is not.
    """
    with _open_file(path) as file:
        description = _parse_description(path, file)
        tensors = file.get_tensors()
    if description.pop("sha256", None) != _digest(description, tensors):
        raise AgentError(f"{path}: its contents were changed after they were saved")
    if name := _first_not_finite(tensors, kind.must_be_finite):
        raise AgentError(f"{path}: {name} is not finite")
    return _make_record(path, kind, description), tensors


def _first_not_finite(tensors: Tensors, beginnings: tuple[str, ...]) -> str | None:
    """Return the name of the first tensor that must be finite and is not, or None."""
    for name, tensor in tensors.items():
        if name.startswith(beginnings) and not np.isfinite(tensor).all():
            return name
    return None


def take_corrections(path: Path, tensors: Tensors) -> Tensors:
    """Take the columns of a corrected agent out of a file's tensors, and return them.

    Raises:
        AgentError: one is missing, or has another dtype.
    """
    columns = {name: tensors.pop(name) for name in CORRECTIONS if name in tensors}
    with errors_naming(path):
        if columns and columns.keys() != CORRECTIONS.keys():
            raise ValueError("corrections need both keys and actions")
        for name, column in columns.items():
            if column.dtype.str != CORRECTIONS[name]:
                raise ValueError(f"{name} has another dtype than {CORRECTIONS[name]}")
    return columns


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
                _check_names_differ(header.read(length))
            yield file
    except (safetensors.SafetensorError, OSError, TypeError, ValueError) as error:
        if isinstance(error, AgentError):
            raise
        reason = str(error)[:200]
        raise AgentError(
            f"{path}: damaged, or not a file of jax_ttt ({reason})"
        ) from None


def _check_names_differ(text: str | bytes) -> None:
    """Raise `ValueError` if an object of a JSON text has a name twice."""

    def check(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("an object has a name twice")

    json.loads(text, object_pairs_hook=check)


def _parse_description(path: Path, file: safetensors.safe_open) -> JsonObject:
    text = (file.metadata() or {}).get(_KEY)
    if text is None:
        raise AgentError(f"{path}: not saved by jax_ttt")
    with errors_naming(path):
        description = json_records.from_json(dict[str, object], text)
        _check_names_differ(text)
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
