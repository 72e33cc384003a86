"""Self-play learning of board games in JAX, with proofs that agents are unbeatable.

Importing the package loads no JAX, so that commands start quickly and bad flags are
refused immediately: each public name is loaded when it is first used. The pages in
`docs/api` describe the public names. `jax_ttt.train` is a function, also after an
import of the module `jax_ttt.train`, which is a command.

Examples:
    >>> jax_ttt.PRESETS["table"].num_updates
    400
    >>> jax_ttt.Config.of(env_id="connect_four").seats
    ('first', 'second')
    >>> try:
    ...     jax_ttt.train(gama=0.9)
    ... except jax_ttt.Refused as error:
    ...     print(error)
    there is no setting gama; did you mean gamma?
"""

import importlib
import sys
import types
from typing import TYPE_CHECKING

from jax_ttt.config.errors import did_you_mean
from jax_ttt.runtime import early_interrupts

# The imports of a command take about a second, in which Ctrl-C may come.
early_interrupts.hold_ctrl_c(package=__name__, script="jax-ttt")

if TYPE_CHECKING:
    from jax_ttt.api.agent import load, save
    from jax_ttt.api.compare import compare
    from jax_ttt.api.correct import correct
    from jax_ttt.api.draw import draw
    from jax_ttt.api.grade import grade
    from jax_ttt.api.match import cross_table, match
    from jax_ttt.api.new_game import new_game
    from jax_ttt.api.player import player
    from jax_ttt.api.prove import prove
    from jax_ttt.api.train import train, train_many
    from jax_ttt.api.values import best_move, q_values
    from jax_ttt.config.errors import Refused
    from jax_ttt.config.presets import PRESETS
    from jax_ttt.config.settings import Config
    from jax_ttt.games.user_games import register_game

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "Config",
    "Refused",
    "best_move",
    "compare",
    "correct",
    "cross_table",
    "draw",
    "grade",
    "load",
    "match",
    "new_game",
    "player",
    "prove",
    "q_values",
    "register_game",
    "save",
    "train",
    "train_many",
]

_MODULES = {
    "PRESETS": "config.presets",
    "Config": "config.settings",
    "Refused": "config.errors",
    "best_move": "api.values",
    "compare": "api.compare",
    "correct": "api.correct",
    "cross_table": "api.match",
    "draw": "api.draw",
    "grade": "api.grade",
    "load": "api.agent",
    "match": "api.match",
    "new_game": "api.new_game",
    "player": "api.player",
    "prove": "api.prove",
    "q_values": "api.values",
    "register_game": "games.user_games",
    "save": "api.agent",
    "train": "api.train",
    "train_many": "api.train",
}
"""The module of each public name."""


def __getattr__(name: str) -> object:
    """Return a public name; its module is imported at the first use."""
    if name not in _MODULES:
        hint = did_you_mean(name, __all__)
        message = f"module {__name__!r} has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name)  # else Python adds a hint of its own
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Package(types.ModuleType):
    """The class of this package, whose public names no submodule replaces."""

    def __setattr__(self, name: str, value: object) -> None:
        # Python sets a submodule as an attribute of its package when it is imported.
        # The module `jax_ttt.train` would replace the function.
        if name in _MODULES and isinstance(value, types.ModuleType):
            return
        super().__setattr__(name, value)


# Python documents this way in "Customizing module attribute access".
sys.modules[__name__].__class__ = _Package
