"""Grids of settings: all combinations of a few values of each."""

import itertools
from collections.abc import Mapping, Sequence

from jax_ttt.config.errors import Refused, SettingError, did_you_mean
from jax_ttt.config.ranges import Setting, parse_value
from jax_ttt.config.settings import Config, types_of

Point = dict[str, Setting]
"""The settings of one combination."""
_FIXED_FIELDS = ("env_id", "eval_games")
"""Fields that a sweep can't vary: its agents must have grades that compare."""


def read_grid(words: Sequence[str], config: Config) -> dict[str, tuple[Setting, ...]]:
    """Return the values of each setting from words like `tau=0.005,0.02`.

    `config` has the learner, whose own settings can be varied too.

    Raises:
        Refused: a word is not of that form, its setting does not exist or can't be
            varied, or two words have the same setting.
        SettingError: a value is not of the setting's type, or outside its range.
    """
    grid: dict[str, tuple[Setting, ...]] = {}
    types = types_of(config)
    for word in words:
        name, equals, values = word.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals:
            rule = "--grid must be SETTING=VALUE,VALUE, for instance tau=0.01,0.02"
            raise Refused(f"{rule}, got {word!r}")
        if name in grid:
            raise Refused(f"--grid must name each setting once, got {name} twice")
        if name in _FIXED_FIELDS:
            reason = "a sweep is of one game, and grades all agents alike"
            raise Refused(f"--grid can't vary {name}: {reason}")
        if name not in types:
            hint = did_you_mean(name, types)
            raise Refused(f"--grid: there is no setting {name!r}{hint}")
        hint = types[name]
        texts = [text.strip() for text in values.split(",")]
        grid[name] = tuple(
            dict.fromkeys(parse_value(name, hint, text) for text in texts)
        )
    return grid


def check_drawable(words: Sequence[str], config: Config) -> None:
    """Raise `SettingError` if a grid varies more settings than a picture can show."""
    varied = [values for values in read_grid(words, config).values() if len(values) > 1]
    if len(varied) > 2:
        rule = "of at most two settings with several values, to be drawn"
        raise SettingError("grid", rule, words)


def grid_points(
    config: Config, grid: dict[str, tuple[Setting, ...]]
) -> list[tuple[Point, Config]]:
    """Return all combinations and their settings; the last setting varies fastest.

    An empty grid has one combination, which is `config` unchanged.

    Raises:
        SettingError: a value is outside its range, contradicts others, or has no
            effect.
    """
    combinations = (
        dict(zip(grid, values, strict=True))
        for values in itertools.product(*grid.values())
    )
    combined_configs = [(point, config.replace(**point)) for point in combinations]
    for _, combined in combined_configs:
        combined.check_changes(config)
    return combined_configs


def point_text(point: Mapping[str, object]) -> str:
    """Return a combination as text, for instance `tau=0.005 num_envs=8`."""
    return " ".join(f"{name}={value}" for name, value in point.items())
