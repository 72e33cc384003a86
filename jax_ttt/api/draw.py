"""The function that draws what the other functions return."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import pgx

from jax_ttt.api.new_game import read_moves
from jax_ttt.api.player import common_game
from jax_ttt.api.training_result import Runs, draw_groups_of_runs
from jax_ttt.config import settings_grid
from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.ranges import check_value
from jax_ttt.config.settings import Config
from jax_ttt.files import picture_file, sweep_file
from jax_ttt.files.metrics_rows import Evaluated, Row, Trained
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.files.run_folder import Plan, RunFolder, read_settings
from jax_ttt.games.played_game import Game
from jax_ttt.grading import agent_groups
from jax_ttt.pictures import board_svg, curves, group_charts
from jax_ttt.runtime import compiling
from jax_ttt.runtime.words import argument_phrase
from jax_ttt.text import grade_text


@runtime_checkable
class Drawable(Protocol):
    """A result that can be drawn: an agent, a run, a game, a table, and so on."""

    def picture(self, theme: Theme = "light") -> Picture:
        """Return the picture."""
        ...


Folders: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""The folders of saved runs."""
States: TypeAlias = pgx.State | Sequence[pgx.State]
"""A PGX state, a batch of states, or a sequence of either."""


def draw(
    thing: Drawable | Sequence[int] | Mapping[str, Runs] | States | Folders,
    path: str | os.PathLike[str] | None = None,
    *,
    theme: Theme = "light",
    env_id: str | None = None,
) -> Picture:
    """Draw a result; with a path, also write the picture as SVG, PNG or PDF.

    The picture depends on the kind of result:

    - runs: learning curves, or rounds for a run with counterexamples;
    - several groups of runs, by name, or a comparison: their means and ranges;
    - the folder of a saved run: its curves; of several: the means and ranges of those
      with the same settings;
    - the file of a sweep: its agents, over their seeds or the values of its grid;
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
            them, or a list of either; or a run's folder, or a list of them; or the file
            of a sweep.
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
        return draw_groups_of_runs(thing, theme)
    if folders := _run_folders(thing):
        return _draw_folders(folders, theme)
    if isinstance(thing, str | os.PathLike) and Path(thing).is_file():
        return _draw_sweep(Path(thing), theme)
    raise Refused(
        f"cannot draw {argument_phrase(thing)}: draw an agent, a run, its folder, "
        "runs or groups of them by name, a sweep's file, a game, moves, action values, "
        "a proof or a cross table"
    )


def _draw_sweep(path: Path, theme: Theme) -> Picture:
    """Draw the agents of a sweep's file, over their seeds or over the grid's values.

    Raises:
        Refused: the file is not a sweep's, its grid has more than two settings, or no
            agent is finished.
    """
    file = sweep_file.open_sweep_file(path, writes=False)
    sweep, groups = file.sweep, agent_groups.sweep_groups(file)
    if not groups:
        raise Refused(f"{path}: no agent is finished")
    settings_grid.check_drawable(sweep.grid, sweep.config)
    if sweep.grid:
        return group_charts.grid_chart(groups, sweep.preset, theme)
    return group_charts.agents_chart(
        sweep.config, groups[0].agents, sweep.preset, theme
    )


def _run_folders(thing: object) -> list[Path]:
    """Return the folders that a thing names; none if it is something else."""
    names = [thing] if isinstance(thing, str | os.PathLike) else thing
    if not isinstance(names, Sequence):
        return []
    paths = [Path(name) for name in names if isinstance(name, str | os.PathLike)]
    are_folders = len(paths) == len(names) and all(path.is_dir() for path in paths)
    return paths if are_folders else []


def _draw_folders(folders: Sequence[Path], theme: Theme) -> Picture:
    """Draw the curves of a saved run, or the mean curves of several."""
    groups: dict[str, list[tuple[Config, list[Row]]]] = {}
    configs: list[Config] = []
    for folder in folders:
        settings, rows = read_settings(folder), _read_metrics(folder)
        groups.setdefault(_settings_text(settings), []).append((settings.config, rows))
        configs.append(settings.config)
        if len(folders) > 1 or not settings.config.finds_counterexamples:
            curves.check_rates(str(folder), rows, settings.config)
        elif not any(isinstance(row, Evaluated) and row.grade.followed for row in rows):
            raise Refused(f"{folder}: no evaluation to draw")
    if len({config.seats for config in configs}) > 1:
        raise Refused("cannot draw runs that learned different seats in one picture")
    first, rows = next(iter(groups.values()))[0]
    learned = grade_text.learned_seat(first.seats)
    note = f": {learned}" if learned else ""
    if len(folders) > 1:
        return curves.draw_groups(groups, f"{len(folders)} runs{note}", theme)
    (folder,) = folders
    return curves.draw_run(rows, f"{folder.resolve().name}{note}", first, theme)


def _read_metrics(folder: Path) -> list[Row]:
    """Return the rows of a run's metrics.

    Raises:
        Refused: the file is not one of metrics, or has no training.
    """
    run = RunFolder(folder)
    try:
        rows = run.rows()
    except ValueError as error:
        raise Refused(f"{run.metrics}: not a run's metrics ({error})") from None
    if not any(isinstance(row, Trained) for row in rows):
        raise Refused(f"{run.metrics}: no training in it")
    return rows


def _settings_text(settings: Plan) -> str:
    """Return the preset and the settings that differ from it, but the evaluations'."""
    preset = PRESETS[settings.preset]
    others = [
        f"{field}={value}"
        for field, value in settings.config.as_dict().items()
        if not field.startswith("eval_") and value != getattr(preset, field)
    ]
    return " ".join([settings.preset, *others])
