"""Typed records as JSON and back.

A record is a frozen dataclass. Fields that are None are not written. When an object is
read, fields with a default may be missing, and unknown ones are ignored.
"""

import dataclasses
import json
from pathlib import Path
from typing import TypeVar

import msgspec

from jax_ttt.runtime import atomic_files

JsonObject = dict[str, object]
"""A JSON object, as the module `json` reads and writes it."""
RecordT = TypeVar("RecordT")
FORMAT_VERSION = 5
"""The version of the formats of all files; no other one is read."""
MOST_FILE_BYTES = 2**20
"""Bytes of the longest JSON file that is read; a run's settings have about 2,000."""


def to_dict(record: object) -> JsonObject:
    """Return the fields of a record that are not None as a JSON object."""
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        raise TypeError(f"not a record: {record!r}")
    fields = {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}
    return {
        name: _to_plain(value) for name, value in fields.items() if value is not None
    }


def _to_plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if isinstance(value, dict):
        return {name: _to_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(part) for part in value]
    return value


def to_json(record: object) -> str:
    """Return a record as one line of JSON.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(to_dict(record), allow_nan=False)


def from_dict(kind: type[RecordT], value: object) -> RecordT:
    """Return the record of a JSON object.

    Raises:
        ValueError: a field is missing or has the wrong type.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def from_json(kind: type[RecordT], text: str | bytes) -> RecordT:
    """Return the record of a JSON text.

    Raises:
        ValueError: it is not JSON, or a field is missing or has the wrong type.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None


def read_json(kind: type[RecordT], path: Path, most: int = MOST_FILE_BYTES) -> RecordT:
    """Return the record of a JSON file of at most `most` bytes.

    Raises:
        ValueError: the file can't be read, or is not such a record.
    """
    return from_json(kind, atomic_files.read_bounded(path, most))


def check_version(version: object) -> None:
    """Raise `ValueError` unless files of this format version can be read."""
    if version != FORMAT_VERSION:
        text = str(version)[:20]
        raise ValueError(f"format version {text}; this program reads {FORMAT_VERSION}")


def flatten_record(value: JsonObject, separator: str, prefix: str = "") -> JsonObject:
    """Return a flat object with joined names, such as `grade/first/win_rate`.

    A list of two numbers is an interval and becomes `NAME_low` and `NAME_high`.
    """
    flat: JsonObject = {}
    for name, part in value.items():
        match part:
            case dict():
                flat |= flatten_record(part, separator, f"{prefix}{name}{separator}")
            case [low, high]:
                flat |= {f"{prefix}{name}_low": low, f"{prefix}{name}_high": high}
            case _:
                flat[prefix + name] = part
    return flat
