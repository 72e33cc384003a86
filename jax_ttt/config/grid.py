"""Grids of settings: every combination of a few values of each. Imports no JAX."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from jax_ttt.config.choices import CHOICES
from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config

Point = dict[str, Any]
"""The settings of one combination."""


def read(words: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each setting, of words like `tau=0.005,0.02`.

    Raises:
        SettingError: a word is not of that kind, or names no setting, or one twice.
    """
    kinds = {f.name: type(f.default) for f in dataclasses.fields(Config)}
    kinds["first_move"] = int
    for name in ("env_id", "eval_every", "eval_games"):  # a sweep grades at the end
        del kinds[name]
    grid: dict[str, tuple[Any, ...]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals or name not in kinds or name in grid:
            rule = "made of SETTING=VALUE,VALUE, each setting once; settings are "
            raise SettingError("grid", rule + ", ".join(sorted(kinds)), word)
        kind, values = kinds[name], [value.strip() for value in values.split(",")]
        grid[name] = tuple(dict.fromkeys(_value(name, kind, value) for value in values))
    return grid


def _value(name: str, kind: type, text: str) -> Any:  # noqa: ANN401
    rules = {bool: "true or false", int: "a whole number", float: "a number"}
    rule = rules.get(kind, "one of " + ", ".join(CHOICES.get(name, ())))
    allowed = {"true": True, "false": False} if kind is bool else None
    try:
        if text not in (allowed or CHOICES.get(name, [text])):
            raise ValueError
        return allowed[text] if allowed else kind(text)
    except ValueError:
        raise SettingError(name, rule, text) from None


def points(
    config: Config, grid: dict[str, tuple[Any, ...]]
) -> list[tuple[Point, Config]]:
    """Return all combinations, the last setting varying fastest, and their settings.

    Without a grid that is `config` alone.

    Raises:
        SettingError: a value is outside its range, or does not go with the others.
    """
    combinations = (
        dict(zip(grid, v, strict=True)) for v in itertools.product(*grid.values())
    )
    return [(point, config.replace(**point)) for point in combinations]


def text(point: Point) -> str:
    """Return a combination as words, empty for none."""
    return " ".join(f"{name}={value}" for name, value in point.items())
