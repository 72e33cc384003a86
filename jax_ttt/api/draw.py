"""The function that draws what the other functions return."""

import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, get_args, runtime_checkable

import pgx

from jax_ttt.api.new_game import moves_of
from jax_ttt.api.player import common_game
from jax_ttt.api.training_result import Runs, compared
from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.games.game import Game
from jax_ttt.pictures import board_svg
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.runtime.words import in_words


@runtime_checkable
class Drawable(Protocol):
    """A result that can be drawn: an agent, a run, a game, a table, and so on."""

    def picture(self, theme: Theme = "light") -> Picture:
        """Return the picture."""
        ...


States: TypeAlias = pgx.State | Sequence[pgx.State]
"""A PGX state, a batch of states, or a sequence of either."""


def draw(
    thing: Drawable | Sequence[int] | Mapping[str, Runs] | States,
    path: str | os.PathLike[str] | None = None,
    *,
    theme: Theme = "light",
    env_id: str | None = None,
) -> Picture:
    """Draw a result, and write the file if a path is given: as SVG, PNG or PDF.

    A run or several are drawn as learning curves, one with counterexamples by round, a
    game as its moves one by one, an agent as its likeliest game against itself, action
    values on their board, a cross table as a heat map, a proof as the shortest line
    that beats the player or as its likeliest game. Several groups of runs, by name, are
    drawn in one picture. States of PGX are drawn as their boards, a list of them as a
    game. Curves and tables need matplotlib, `pip install 'jax_ttt[plots]'`. Boards and
    values on boards need nothing as SVG; as PNG or PDF they need cairosvg,
    `pip install 'jax_ttt[png]'`.

    Args:
        thing: What another function of this page returned; or the moves of a game, to
            draw the board after the last one; or groups of runs by name, for instance
            `{"few": runs, "many": other_runs}`; or a PGX state, a batch of them, or a
            list of either.
        path: The file to write; it ends in `.svg`, `.png` or `.pdf`. A game as PNG or
            PDF shows its last board.
        theme: `"light"` or `"dark"`.
        env_id: The game of the moves, by default tic-tac-toe; only where `thing` is
            moves.

    Returns:
        The picture: a notebook shows it, `svg` is its text.

    Raises:
        Refused: a move is not legal, there is no picture of that, there is no such
            theme, game or kind of file, or matplotlib or cairosvg is needed and not
            installed.

    Example:
        >>> picture = jax_ttt.draw([4, 0, 8], "board.svg")
        >>> "<svg" in picture.svg
        True
        >>> run = jax_ttt.train(seed=1, preset="table")
        >>> picture = jax_ttt.draw(run, "curve.svg")
    """
    if theme not in get_args(Theme):
        raise SettingError("theme", "light or dark", theme)
    if path is not None:
        pictures.file_ending(Path(path))
    try:
        found = _picture(thing, theme, env_id)
        if path is not None:
            found.save(Path(path))
    except ImportError:
        if importlib.util.find_spec("matplotlib") is not None:
            raise
        needed = "this picture needs matplotlib: pip install 'jax_ttt[plots]'"
        raise Refused(needed) from None
    return found


def _picture(thing: object, theme: Theme, env_id: str | None) -> Picture:
    game = common_game([], env_id)
    moves = None if isinstance(thing, Drawable) else moves_of(thing)
    if moves is not None:
        return board_svg.position_picture(Game.start(game, moves).state, theme)
    if env_id is not None:
        raise SettingError("env_id", "None unless moves are drawn", env_id)
    if isinstance(thing, Drawable) and not isinstance(thing, type):
        return thing.picture(theme)
    if isinstance(thing, pgx.State):
        return board_svg.position_picture(thing, theme)
    if isinstance(thing, Sequence) and thing and isinstance(thing[0], pgx.State):
        return board_svg.animation(
            [s for s in thing if isinstance(s, pgx.State)], theme
        )
    if isinstance(thing, Mapping) and all(isinstance(v, Runs) for v in thing.values()):
        return compared(thing, theme)
    raise Refused(
        f"there is no picture of {in_words(thing)}: draw an agent, a run, runs or "
        "groups of them by name, a game, moves, action values, a proof or a cross table"
    )
