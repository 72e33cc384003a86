"""Typed records as JSON and back.

A record is a frozen dataclass or a `msgspec.Struct`. A field that is None by default is
not written if it is None. When an object is read, fields with a default may be missing,
and unknown ones are ignored, but for those of settings, a `Config`.
"""

import dataclasses
import json
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
"""Bytes of the longest file of settings that is read; a run's have about 2,000."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Versioned:
    """A file with the version of its format."""

    version: Literal[3] = VERSION
    """Version of the format."""


def to_json(value: object) -> str:
    """Return a record, or records by name, as one line of JSON.

    Of a record, fields that are None by default are left out if they are None, and
    those with the metadata `NOT_WRITTEN` always. A struct's tag is its first field.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, default=_written_fields, allow_nan=False)


def to_dict(record: object) -> JsonObject:
    """Return a record as the object that its JSON is read as."""
    return json.loads(to_json(record))


def _written_fields(record: object) -> JsonObject:
    if isinstance(record, msgspec.Struct):
        config = record.__struct_config__
        fields: JsonObject = {str(config.tag_field): config.tag} if config.tag else {}
        fields |= msgspec.structs.asdict(record)
        return {name: value for name, value in fields.items() if value is not None}
    values = {
        field: getattr(record, field.name)
        for field in dataclasses.fields(cast("Any", record))
        if field.metadata != NOT_WRITTEN
    }
    return {
        field.name: value
        for field, value in values.items()
        if value is not None or field.default is not None
    }


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
        if isinstance(unknown, SettingError) and unknown.field == "own":
            raise atomic_files.UnreadableError(unknown.rule) from unknown
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
        names = getattr(record, "__struct_fields__", ())
        if dataclasses.is_dataclass(record):
            names = [field.name for field in dataclasses.fields(record)]
        for name in names:
            _after_reading(getattr(record, name), value.get(name))


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
