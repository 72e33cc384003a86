"""The public names, for `lazy_loader` and for type checkers."""

from .api.agent import load, save
from .api.compare import compare
from .api.correct import correct
from .api.cross_table import cross_table
from .api.draw import draw
from .api.grade import grade
from .api.match import match
from .api.new_game import new_game
from .api.player import player
from .api.prove import prove
from .api.train import train, train_many
from .api.values import best_move, q_values
from .config.errors import Refused
from .config.presets import PRESETS
from .config.settings import Config
from .dqn.base_learner import Learner
from .dqn.learner import DQN
from .games.user_games import register_game

__all__ = [
    "DQN",
    "PRESETS",
    "Config",
    "Learner",
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

__version__: str
early_interrupts: list[int]
