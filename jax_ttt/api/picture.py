"""The one function that draws whatever the others return."""

import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, cast, runtime_checkable

import pgx

from jax_ttt.api.run import Runs, compared
from jax_ttt.config.catalogue import DEFAULT
from jax_ttt.config.errors import Refused
from jax_ttt.envs import one_game
from jax_ttt.reports import boards
from jax_ttt.reports.pictures import Picture, Theme


@runtime_checkable
class Drawable(Protocol):
    """Whatever can be drawn: an agent, a run, a game, a table, and so on."""

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw it."""
        ...


States: TypeAlias = pgx.State | Sequence[pgx.State]
"""A state of PGX or a batch of them, or several of these, one after another."""


def draw(
    thing: Drawable | Sequence[int] | Mapping[str, Runs] | States,
    path: str | os.PathLike[str] | None = None,
    *,
    theme: Theme = "light",
    env_id: str = DEFAULT,
) -> Picture:
    """Draw a result as SVG, and write the file if a path is given.

    A run or several are drawn as learning curves, a game as its moves one by one, an
    agent as its likeliest game against itself, action values on their board, a cross
    table as a heat map, a proof as the shortest line that beats the player or as its
    likeliest game. Several groups of runs, by name, are drawn in one picture. States of
    PGX are drawn as their boards, a list of them as a game. Curves, values and tables
    need matplotlib, `pip install 'jax_ttt[plots]'`; boards do not.

    Args:
        thing: What another function of this page returned; or the moves of a game, to
            draw the board after the last one; or groups of runs by name, for instance
            `{"few": runs, "many": other_runs}`; or a PGX state, a batch of them, or a
            list of either.
        path: The file to write.
        theme: `"light"` or `"dark"`.
        env_id: The game, where `thing` is moves.

    Returns:
        The picture: a notebook shows it, `svg` is its text.

    Raises:
        Refused: a move is not legal, there is no picture of that, or matplotlib is
            needed and not installed.

    Example:
        >>> picture = jax_ttt.draw([4, 0, 8], "board.svg")
        >>> "<svg" in picture.svg
        True
        >>> run = jax_ttt.train(seed=1, preset="table")
        >>> picture = jax_ttt.draw(run, "curve.svg")
    """
    try:
        if isinstance(thing, Drawable):
            found = thing.picture(theme)
        elif isinstance(thing, Mapping):
            found = compared(thing, theme)
        elif isinstance(thing, pgx.State):
            found = boards.position_picture(thing, theme)
        elif len(thing) and isinstance(thing[0], pgx.State):
            found = boards.animation(cast(Sequence[pgx.State], thing), theme)
        else:
            moves = cast(Sequence[int], thing)
            found = boards.position_picture(one_game.states(env_id, moves)[-1], theme)
    except ImportError:
        if importlib.util.find_spec("matplotlib") is not None:
            raise
        needed = "this picture needs matplotlib: pip install 'jax_ttt[plots]'"
        raise Refused(needed) from None
    if path is not None:
        found.save(Path(path))
    return found
