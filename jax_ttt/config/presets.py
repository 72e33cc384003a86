"""Presets: named settings, which the file `presets.toml` holds."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jax_ttt.config import game_facts
from jax_ttt.config.errors import did_you_mean
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import SELF, Config

PATH = Path(__file__).with_name("presets.toml")
"""The settings of each preset, as differences from a base."""


def read_tables(text: str) -> dict[str, Config]:
    """Return the settings of each table of a text in the form of the file.

    Raises:
        KeyError: there is no base of this name before a table.
        SettingError: a field is unknown, outside its range, or contradicts others.
    """
    configs = {"": Config()}
    for name, fields in tomllib.loads(text).items():
        base = configs[fields.pop("base", "")]
        configs[name] = base.replace(**fields)
    del configs[""]
    return configs


TABLES = read_tables(PATH.read_text("utf-8"))
"""The settings of each table of the file."""


class Presets(dict[str, Config]):
    """Settings by the name of their preset; an error for another name has a hint."""

    def __missing__(self, name: object) -> Config:
        hint = did_you_mean(name, self) if isinstance(name, str) else ""
        raise KeyError(f"there is no preset {name!r}{hint}")


PRESETS = Presets(
    (name, config) for name, config in TABLES.items() if not name.startswith("_")
)
"""The settings of each preset."""

if TYPE_CHECKING:
    Preset = str
else:  # the command line and type checks at run time need the choices
    Preset = Literal[tuple(PRESETS)]


def default_preset(env_id: object, *opponents: object) -> Preset:
    """Return the default preset: the game's, or `plain` against an opponent.

    `env_id` None means the default game. An opponent None, or no opponents, means
    self-play. The preset is `plain` if any of the opponents is another player.
    """
    is_self_play = all(name in (None, SELF) for name in opponents)
    game = GAMES.get(str(env_id or game_facts.DEFAULT_GAME))
    return game.preset if game and is_self_play else "plain"
