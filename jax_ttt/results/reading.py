"""Reading files that anybody may have written: regular ones, of bounded size.

Sizes are checked before anything is read. Imports no JAX.
"""

import contextlib
import json
import math
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeGuard

MOST_JSON = 2**20
"""Bytes of the longest JSON text that is read; a run's settings have about 2,000."""
MOST_METRICS = 2**28
"""Bytes of the longest metrics that are read, about half a million rows."""
MOST_TENSORS = 2**30
"""Bytes of the largest file of tensors that is read; an agent's has about 100,000."""
_MOST_DEPTH = 32
_MOST_DIGITS = 40
_MOST_REASON = 300


class UnreadableError(ValueError):
    """A file can't be read, or should not be; the message says why."""


@contextlib.contextmanager
def open_bounded(path: Path, most: int) -> Iterator[BinaryIO]:
    """Open a regular file of at most `most` bytes; nothing else is waited for.

    Raises:
        UnreadableError: there is no such file, or it can't be read; it is a folder, a
            device, a pipe or a socket; or it is too large. Also for an `OSError` while
            the file is open.
    """
    try:
        # Before it is opened, since opening a device may have an effect.
        _check(path.stat(), most)
        flags = os.O_RDONLY
        for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
            flags |= getattr(os, name, 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            _check(os.fstat(file.fileno()), most)
            yield file
    except FileNotFoundError:
        raise UnreadableError("no such file") from None
    except OSError as error:
        raise UnreadableError(error.strerror or repr(error)) from error


def json_file(path: Path, most: int = MOST_JSON) -> object:
    """Return the value of a JSON file of at most `most` bytes.

    Raises:
        UnreadableError: the file can't be read.
        ValueError: its text is not strict JSON, see `strict_json`.
    """
    with open_bounded(path, most) as file:
        content = file.read(most + 1)
    return strict_json(content)


def strict_json(text: str | bytes) -> object:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not UTF-8 or not JSON, has NaN or an infinite number, a number
            of many digits, a name twice in one object, or is nested deep.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        value = json.loads(
            text,
            parse_constant=_not_finite,
            parse_int=_integer,
            parse_float=_finite,
            object_pairs_hook=_once_each,
        )
    except RecursionError:
        raise ValueError("nested too deep") from None
    _check_depth(value)
    return value


def one_line(reason: object) -> str:
    """Return a reason as one line of bounded length, without control characters."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(reason)[:1000])
    return text if len(text) <= _MOST_REASON else f"{text[:_MOST_REASON]}..."


def is_version(value: object, readable: Sequence[int]) -> TypeGuard[int]:
    """Return whether a format version is one of those that can be read."""
    return type(value) is int and value in readable


def other_version(value: object, readable: Sequence[int]) -> str:
    """Return that a format version can't be read, and which ones can."""
    *others, last = map(str, readable)
    reads = f"{', '.join(others)} and {last}"
    return f"format version {repr(value)[:20]}; this program reads {reads}"


def saved_game(path: Path) -> str | None:
    """Return the game that a saved agent is made for.

    `path` is its file or a run's folder. The game is None if it can't be read there.
    """
    path = path / "agent.safetensors" if path.is_dir() else path
    try:
        with open_bounded(path, MOST_TENSORS) as file:
            size = int.from_bytes(file.read(8), "little")
            header = strict_json(file.read(min(size, MOST_JSON)))
        match header:
            case {"__metadata__": {"jax_ttt": str(text)}}:
                description = strict_json(text)
            case _:
                return None
    except ValueError:
        return None
    match description:
        case {"env_id": str(game)}:
            return game
        case _:
            return None


def _check(about: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise UnreadableError("not a regular file")
    if about.st_size > most:
        raise UnreadableError(f"larger than {most:,} bytes")


def _check_depth(value: object) -> None:
    """Raise `ValueError` if lists and objects are nested deep."""
    level = [value]
    for _ in range(_MOST_DEPTH):
        below: list[object] = []
        for part in level:
            if isinstance(part, dict):
                below += part.values()
            elif isinstance(part, list):
                below += part
        if not below:
            return
        level = below
    raise ValueError("nested too deep")


def _not_finite(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if len(text) > _MOST_DIGITS or not math.isfinite(value):
        raise ValueError("a number is too large, or has too many digits")
    return value


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has a name twice")
    return fields
