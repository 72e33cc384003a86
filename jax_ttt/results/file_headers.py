"""The header of an agent's file, which says what the agent is for. Needs no JAX."""

from pathlib import Path

from jax_ttt.results import reading

_MOST = 2**30
"""Bytes of the largest file whose header is read."""


def saved_game(path: Path) -> str | None:
    """Return the game that a saved agent is made for.

    `path` is its file or a run's folder. The game is None if it can't be read there.
    """
    path = path / "agent.safetensors" if path.is_dir() else path
    try:
        with reading.open_bounded(path, _MOST) as file:
            size = int.from_bytes(file.read(8), "little")
            header = reading.strict_json(file.read(min(size, reading.MOST_JSON)))
        game = reading.strict_json(header["__metadata__"]["jax_ttt"])["env_id"]
    except (AttributeError, ValueError, KeyError, TypeError):
        return None
    return game if isinstance(game, str) else None
