"""The settings that a run wrote to its `config.json`. Imports no JAX."""

from pathlib import Path
from typing import NamedTuple

from jax_ttt.config.errors import SettingError, UsageError
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.ranges import SEED_RANGE
from jax_ttt.config.settings import READABLE, Config
from jax_ttt.results import reading


class SavedSettings(NamedTuple):
    """What a `config.json` says of a run."""

    config: Config
    preset: Preset
    seed: int


def read_settings(path: Path) -> SavedSettings:
    """Return what a run's `config.json`, or the one in its folder, says.

    Raises:
        UsageError: there is no such file, or it is no run's settings.
    """
    path = path / "config.json" if path.is_dir() else path
    try:
        settings = reading.json_file(path)
        if not isinstance(settings, dict):
            raise TypeError("not an object")
        version = settings.get("format_version", 1)
        if not reading.is_version(version, READABLE):
            raise UsageError(f"{path}: {reading.other_version(version, READABLE)}")
        seed, preset = settings["seed"], settings["preset"]
        SEED_RANGE.check("seed", seed)
        if preset not in PRESETS:
            raise ValueError(f"preset {preset!r}")
        return SavedSettings(Config.of(**settings["config"]), preset, seed)
    except UsageError:
        raise
    except reading.UnreadableError as error:
        raise UsageError(f"{path}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, SettingError) else repr(error)
        reason = reading.one_line(reason)
        raise UsageError(f"{path}: not a run's settings ({reason})") from None
