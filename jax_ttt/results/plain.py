"""Conversion of typed records to JSON objects and back. Imports no JAX.

A record is a frozen dataclass. Fields that are None are not written. When an object is
read, fields with a default may be missing.
"""

import dataclasses
import types
from typing import (
    ClassVar,
    Literal,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

JsonObject = dict[str, object]
"""A JSON object, as the module `json` reads and writes it."""


class Dataclass(Protocol):
    """An instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field]]


Record = TypeVar("Record", bound=Dataclass)
Value = TypeVar("Value")

_KINDS: dict[object, str] = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def to_dict(record: object) -> JsonObject:
    """Return the fields of a record that are not None as a JSON object."""
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        raise TypeError(f"not a record: {record!r}")
    pairs = ((f.name, getattr(record, f.name)) for f in dataclasses.fields(record))
    return {name: _plain(value) for name, value in pairs if value is not None}


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value


def field(fields: JsonObject, name: str, kind: type[Value]) -> Value:
    """Return a field of a JSON object; `kind` is a type that JSON has.

    Raises:
        KeyError: the field is missing.
        TypeError: it has another type.
    """
    value = fields[name]
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {_KINDS[kind]}, got {value!r}")
    return value


def record_from_dict(kind: type[Record], value: object, where: str = "") -> Record:
    """Return the record of a JSON object; unknown fields are ignored.

    `where` is the object's name in messages. A class may list earlier names of its
    fields in `OLD_NAMES`. An earlier name is read if the current one is missing.

    Raises:
        ValueError: a field is missing or has the wrong type.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{where or 'it'} must be an object, got {value!r}")
    old, hints = getattr(kind, "OLD_NAMES", {}), get_type_hints(kind)
    fields: JsonObject = {}
    for part in dataclasses.fields(kind):
        path = f"{where}.{part.name}" if where else part.name
        names = [name for name in (part.name, old.get(part.name)) if name in value]
        if names:
            fields[part.name] = _read(hints[part.name], value[names[0]], path)
        elif part.default is dataclasses.MISSING:
            raise ValueError(f"{path} is missing")
    return kind(**fields)


def _read(hint: object, value: object, path: str) -> object:
    """Return a value converted to its annotation, or raise `ValueError`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (arg for arg in args if arg is not types.NoneType)
        return None if value is None else _read(inner, value, path)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return record_from_dict(hint, value, path)
    if origin is Literal:
        if value in args:
            return value
        raise ValueError(f"{path} must be one of {', '.join(args)}, got {value!r}")
    if origin is tuple:
        return _read_list(args, value, path)
    if origin is dict and isinstance(value, dict):
        return {k: _read(args[1], part, f"{path}.{k}") for k, part in value.items()}
    return _read_scalar(hint, value, path)


def _read_scalar(hint: object, value: object, path: str) -> object:
    if hint is type(value) and isinstance(value, bool | str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if hint is float:
            return float(value)
        # Earlier versions wrote some counts as 0.0.
        if hint is int and value == value // 1:
            return int(value)
    expected = _KINDS.get(hint, "an object")
    raise ValueError(f"{path} must be {expected}, got {value!r}")


def _read_list(args: tuple, value: object, path: str) -> tuple:
    if not isinstance(value, list):
        raise ValueError(f"{path} must be a list, got {value!r}")
    kinds = args[:1] * len(value) if args[-1] is Ellipsis else args
    if len(kinds) != len(value):
        raise ValueError(f"{path} must have {len(kinds)} parts, got {value!r}")
    parts = zip(kinds, value, strict=True)
    return tuple(
        _read(kind, part, f"{path}[{i}]") for i, (kind, part) in enumerate(parts)
    )


def flattened(value: JsonObject, separator: str, prefix: str = "") -> JsonObject:
    """Return a flat object with joined names, such as `exact/first/win_rate`.

    A list of two numbers is an interval and becomes `NAME_low` and `NAME_high`.
    """
    found: JsonObject = {}
    for name, part in value.items():
        match part:
            case dict():
                found |= flattened(part, separator, f"{prefix}{name}{separator}")
            case [low, high]:
                found |= {f"{prefix}{name}_low": low, f"{prefix}{name}_high": high}
            case _:
                found[prefix + name] = part
    return found
