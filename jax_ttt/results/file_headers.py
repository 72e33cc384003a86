"""The header of an agent's file, which says what the agent is for. Needs no JAX."""

import json
from pathlib import Path

_MOST = 2**20
"""Bytes of a header that are read; an agent's has a few thousand."""


def saved_game(path: Path) -> str | None:
    """Return the game that a saved agent is made for.

    `path` is its file or a run's folder. The game is None if it can't be read there.
    """
    path = path / "agent.safetensors" if path.is_dir() else path
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(size, _MOST)))
        game = json.loads(header["__metadata__"]["jax_ttt"])["env_id"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return game if isinstance(game, str) else None
