"""Grids of settings: every combination of a few values of each. Imports no JAX."""

import itertools
from collections.abc import Mapping, Sequence

from jax_ttt.config.errors import SettingError, UsageError
from jax_ttt.config.ranges import Setting
from jax_ttt.config.settings import RULES, Config
from jax_ttt.config.suggestions import one_of

Point = dict[str, Setting]
"""The settings of one combination."""


def read_grid(words: Sequence[str]) -> dict[str, tuple[Setting, ...]]:
    """Return the values of each setting, of words like `tau=0.005,0.02`.

    Raises:
        UsageError: a word is not of that kind, or names no setting, or one twice.
        SettingError: a value can't be read.
    """
    known = RULES.keys() - {"env_id", "eval_games"}
    grid: dict[str, tuple[Setting, ...]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals:
            rule = "--grid must be SETTING=VALUE,VALUE, for instance tau=0.01,0.02"
            raise UsageError(f"{rule}, got {word!r}")
        if name in grid:
            raise UsageError(f"--grid must name each setting once, got {name} twice")
        if name in RULES.keys() - known:
            why = "a sweep is of one game, and grades all agents alike"
            raise UsageError(f"--grid can't vary {name}: {why}")
        if name not in known:
            raise UsageError(one_of("a setting of --grid", sorted(known), name))
        texts = [text.strip() for text in values.split(",")]
        grid[name] = tuple(dict.fromkeys(_value(name, text) for text in texts))
    return grid


def _value(name: str, text: str) -> Setting:
    try:
        return RULES[name].parsed(text)
    except ValueError:
        raise SettingError(name, str(RULES[name]), text) from None


def points(
    config: Config, grid: dict[str, tuple[Setting, ...]], given: Sequence[str] = ()
) -> list[tuple[Point, Config]]:
    """Return all combinations, the last setting varying fastest, and their settings.

    Without a grid that is `config` alone.

    Raises:
        SettingError: a value is outside its range, or does not go with the others.
    """
    combinations = (
        dict(zip(grid, v, strict=True)) for v in itertools.product(*grid.values())
    )
    found = [(point, config.replace(**point)) for point in combinations]
    for point, combined in found:
        combined.check_effect((*point, *given))
    return found


def point_text(point: Mapping[str, object]) -> str:
    """Return a combination as words, empty for none."""
    return " ".join(f"{name}={value}" for name, value in point.items())
