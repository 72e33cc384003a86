"""Typed records as JSON and back.

A record is a frozen dataclass or a `msgspec.Struct`. A field that is None by default is
not written if it is None. When an object is read, fields with a default may be missing,
and unknown ones are ignored, but for those of settings, a `Config`.
"""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

import msgspec

from jax_ttt.config.errors import SettingError
from jax_ttt.runtime import atomic_files

JsonObject = dict[str, object]
"""A JSON object, as the module `json` reads and writes it."""
RecordT = TypeVar("RecordT")
NOT_WRITTEN = {"is_written": False}
"""The metadata of a dataclass's field that is left out of its JSON."""
VERSION: Final = 3
"""The version of agents, checkpoints, runs and sweeps; no other one is read."""
MAX_FILE_BYTES = 2**20
"""Bytes of the longest JSON file that is read; a run's settings have about 2,000."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Versioned:
    """A file with the version of its format."""

    version: Literal[3] = VERSION
    """Version of the format."""


def to_dict(record: object) -> JsonObject:
    """Return the fields of a record as a JSON object, with a struct's tag.

    Those that are None by default are left out if they are None, and those with the
    metadata `NOT_WRITTEN` always.
    """
    if isinstance(record, msgspec.Struct):
        config = record.__struct_config__
        fields = {} if config.tag is None else {str(config.tag_field): config.tag}
        fields |= msgspec.structs.asdict(record)
        return {n: _to_plain(value) for n, value in fields.items() if value is not None}
    values = {
        field: getattr(record, field.name)
        for field in dataclasses.fields(cast("Any", record))
        if is_written(field)
    }
    return {
        field.name: _to_plain(value)
        for field, value in values.items()
        if value is not None or field.default is not None
    }


def is_written(field: dataclasses.Field) -> bool:
    """Return whether a record's JSON has the field."""
    return field.metadata.get("is_written", True)


def _to_plain(value: object) -> object:
    if dataclasses.is_dataclass(value) or isinstance(value, msgspec.Struct):
        return to_dict(value)
    if isinstance(value, dict):
        return {name: _to_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(part) for part in value]
    return value


def to_json(value: object) -> str:
    """Return a record, or records by name, as one line of JSON.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(_to_plain(value), allow_nan=False)


def from_dict(kind: type[RecordT], value: object) -> RecordT:
    """Return the record of a JSON object.

    Raises:
        UnreadableError: its version is not the one that is read.
        ValueError: a field is missing, has the wrong type or is not allowed.
    """
    is_versioned = isinstance(kind, type) and issubclass(kind, Versioned)
    if is_versioned and isinstance(value, dict):
        check_version(value)
    try:
        record = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        unknown = error.__cause__
        if isinstance(unknown, SettingError) and unknown.field == "env_id":
            reason = (
                f"made for {str(unknown.value)[:50]!r}, a game that is not registered; "
                "name the file that registers it by --rules FILE in a command with "
                "this flag, or import it in Python"
            )
            raise atomic_files.UnreadableError(reason) from unknown
        raise ValueError(str(error)) from None
    _after_reading(record, value)
    return record


def _after_reading(record: object, value: object) -> None:
    """Call the method `after_reading` of a record, or of its parts, that has one.

    A `Config` refuses unknown names, which other records ignore, and a `Grade` notes
    that it is by a file.
    """
    if (call := getattr(record, "after_reading", None)) is not None:
        call(value)
    elif isinstance(value, dict):
        for name in field_names(record):
            _after_reading(getattr(record, name), value.get(name))


def field_names(record: object) -> Sequence[str]:
    """Return the names of a record's fields; none of what is not a record."""
    if isinstance(record, msgspec.Struct):
        return record.__struct_fields__
    if not dataclasses.is_dataclass(record):
        return ()
    return [field.name for field in dataclasses.fields(record)]


def from_json(kind: type[RecordT], text: str | bytes) -> RecordT:
    """Return the record of a JSON text.

    Raises:
        ValueError: it is not JSON, or a field is missing, has the wrong type or is not
            allowed.
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return from_dict(kind, value)


def check_names_differ(text: str | bytes) -> None:
    """Raise `ValueError` if an object of a JSON text has a name twice."""

    def check(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("an object has a name twice")

    json.loads(text, object_pairs_hook=check)


def read_json(kind: type[RecordT], path: Path) -> RecordT:
    """Return the record of a JSON file of at most `MAX_FILE_BYTES`.

    Raises:
        ValueError: the file can't be read, or is not such a record.
    """
    return from_json(kind, atomic_files.read_bounded(path, MAX_FILE_BYTES))


def check_version(value: JsonObject) -> None:
    """Raise `UnreadableError` unless a file's JSON object has the version to read.

    Files of older formats have another field, with numbers of its own.
    """
    older, version = value.get("format_version"), value.get("version")
    if older is not None or type(version) is not int or version != VERSION:
        name = "no format version" if version is None else f"format {str(version)[:20]}"
        name = name if older is None else f"older format {str(older)[:20]}"
        raise atomic_files.UnreadableError(
            f"{name}; this version of jax_ttt reads format {VERSION}"
        )


def flatten_record(value: JsonObject, separator: str, prefix: str = "") -> JsonObject:
    """Return a flat object with joined names, such as `grade/first/win_rate`."""
    flat: JsonObject = {}
    for name, part in value.items():
        if isinstance(part, dict):
            flat |= flatten_record(part, separator, f"{prefix}{name}{separator}")
        else:
            flat[prefix + name] = part
    return flat
