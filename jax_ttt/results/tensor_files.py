"""Files of tensors with a description: the format of saved agents and snapshots.

They are safetensors files. The same contents give the same bytes. Needs no JAX.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from jax_ttt.config.errors import PlayerError, SettingError
from jax_ttt.config.settings import READABLE

MAX_BYTES = 2**30  # far above the largest network that the flags allow in practice
_KEY = "jax_ttt"  # one entry: safetensors writes several in no fixed order


class AgentError(PlayerError):
    """An agent file is unusable; the message names the file and the reason."""


def as_bytes(about: dict[str, Any], tensors: dict[str, np.ndarray]) -> bytes:
    """Return a file of a description and tensors, which `contents` reads."""
    about = about | {"sha256": _digest(tensors)}
    text = json.dumps(about, sort_keys=True, allow_nan=False)
    return safetensors.numpy.save(tensors, {_KEY: text})


def contents(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a file's description and tensors; the caller checks what they hold.

    Raises:
        AgentError: the file is missing or damaged, another program or version wrote it,
            or the tensors were changed.
    """
    with _reading(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = _about(file)
    about = _of_this_format(path, about)
    if about.get("sha256") != _digest(tensors):
        raise AgentError(f"{path}: the weights were changed after they were saved")
    return about, tensors


def description(path: Path) -> dict[str, Any]:
    """Return a file's description without its tensors; the caller checks what it holds.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    with _reading(path) as file:
        about = _about(file)
    return _of_this_format(path, about)


@contextlib.contextmanager
def describing(path: Path) -> Iterator[None]:
    """Name the file in errors that its description causes meanwhile."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, SettingError) else repr(error)
        raise AgentError(f"{path}: damaged description ({reason})") from error


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """Open an agent's file; errors in its contents name the file."""
    if not path.is_file():
        reason = "not a regular file" if path.exists() else "no such file"
        raise AgentError(f"{path}: {reason}")
    if path.stat().st_size > MAX_BYTES:
        raise AgentError(f"{path}: larger than {MAX_BYTES:,} bytes, not an agent")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            yield file
    except (
        *(safetensors.SafetensorError, OSError, ValueError, RecursionError),
        *(AttributeError, TypeError),  # a dtype that NumPy does not have
    ) as error:
        raise AgentError(f"{path}: damaged or not an agent ({error})") from error


def _about(file: Any) -> object:  # noqa: ANN401
    """Return a file's description, unchecked; None if it has none."""
    return json.loads((file.metadata() or {}).get(_KEY, "null"))


def _of_this_format(path: Path, about: object) -> dict[str, Any]:
    """Return a file's description if this program and version can read it."""
    if not isinstance(about, dict):
        raise AgentError(f"{path}: not saved by jax_ttt")
    if about.get("format_version") not in READABLE:
        raise AgentError(
            f"{path}: format version {about.get('format_version')!r}; "
            f"this program reads {' and '.join(map(str, READABLE))}"
        )
    return about


def _digest(tensors: dict[str, np.ndarray]) -> str:
    """Return the SHA-256 of the weights; safetensors does not detect a flipped bit."""
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(name.encode())
        found.update(np.ascontiguousarray(tensors[name]).tobytes())
    return found.hexdigest()
