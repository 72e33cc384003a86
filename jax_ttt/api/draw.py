"""The function that draws what the other functions return."""

import os
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import pgx

from jax_ttt.api.new_game import read_moves
from jax_ttt.api.player import common_game
from jax_ttt.api.training_result import Runs, draw_groups
from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.ranges import check_value
from jax_ttt.files import picture_file
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games.played_game import Game
from jax_ttt.pictures import board_svg
from jax_ttt.runtime import compiling
from jax_ttt.runtime.words import argument_phrase


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
    """Draw a result; with a path, also write the picture as SVG, PNG or PDF.

    The picture depends on the kind of result:

    - runs: learning curves, or rounds for a run with counterexamples;
    - several groups of runs, by name, or a comparison: their means and ranges;
    - a game, or a list of PGX states: the boards, one after another;
    - an agent: its likeliest game against itself;
    - action values: the board with a value in each free cell;
    - a cross table: a heat map;
    - a proof: the shortest line that beats the player, else its likeliest game.

    Curves and tables need matplotlib, `pip install 'jax_ttt[plots]'`. Boards need no
    package as SVG; as PNG or PDF they need cairosvg, `pip install 'jax_ttt[png]'`.

    Args:
        thing: The result of another function of this package; or the moves of a game,
            to draw the board after the last one; or groups of runs by name, for
            instance `{"few": runs, "many": other_runs}`; or a PGX state, a batch of
            them, or a list of either.
        path: The file to write; it ends in `.svg`, `.png` or `.pdf`. A game as PNG or
            PDF shows its last board.
        theme: `"light"` or `"dark"`.
        env_id: The game if `thing` is moves, by default tic-tac-toe; else None.

    Returns:
        The picture: a notebook shows it, `svg` is its text.

    Raises:
        Refused: `thing` cannot be drawn; a move is illegal; the theme, the game or the
            kind of file is unknown; or matplotlib or cairosvg is not installed.

    Examples:
        >>> picture = jax_ttt.draw([4, 0, 8], "board.svg")
        >>> "<svg" in picture.svg
        True
        >>> run = jax_ttt.train(seed=1, preset="table")
        >>> picture = jax_ttt.draw(run, "curve.svg")
    """
    check_value("theme", Theme, theme)
    if path is not None:
        picture_file.file_ending(path)
    compiling.use_user_cache()
    picture = _draw_thing(thing, theme, env_id)
    if path is not None:
        picture.save(path)
    return picture


def _draw_thing(thing: object, theme: Theme, env_id: str | None) -> Picture:
    game = common_game([], env_id)
    moves = None if isinstance(thing, Drawable) else read_moves(thing)
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
        return draw_groups(thing, theme)
    raise Refused(
        f"cannot draw {argument_phrase(thing)}: draw an agent, a run, runs or "
        "groups of them by name, a game, moves, action values, a proof or a cross table"
    )
