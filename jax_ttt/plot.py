"""Draw runs: learning curves, a game of the agent, its values of the moves.

python -m jax_ttt.plot RUN
"""

import dataclasses
import math
import sys
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config import game_facts
from jax_ttt.config.errors import Refused, require_package
from jax_ttt.config.game_facts import GAMES, LETTERS
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.files import metrics_rows, picture_file
from jax_ttt.files.metrics_rows import Chunk, Evaluated, Row
from jax_ttt.files.picture_file import Theme
from jax_ttt.files.run_folder import RunFolder, read_settings
from jax_ttt.runtime import standard_streams

if TYPE_CHECKING:
    from jax_ttt.files.picture_file import Picture


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Draw runs as SVG, PNG or PDF files.

    One run: its results against random by seat, the update from which on it is proven
    unbeatable, its loss and schedules; with --start-share, the positions reached and
    the losing ends by round. Several runs: mean and range of those with the same
    settings. Exit codes: 0 done, 1 failed, 2 bad flags or file.
    """

    runs: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Runs' folders; by default the newest run below runs/."""
    game: tyro.conf.FlagCreatePairsOff[bool] = False
    """Draw the agent's likeliest game against itself instead of curves: animated in an
    SVG file, its last board in a PNG or PDF file."""
    values: str | None = None
    """Draw the agent's value of each move on this board next to the exact values. The
    board is nine of X, O and ., row by row, for instance X...O...X."""
    theme: Theme = "light"
    """Colours on a white or on a black background."""
    svg: Path | None = None
    """File to write, as SVG, PNG or PDF by its ending. By default curve.svg, game.svg
    or values.svg in the run's folder, or curves.svg where several are given. Curves
    need the extra `plots`; --game and --values as PNG or PDF the extra `png`."""
    user_game: cli.UserGameFlags = field(default_factory=cli.UserGameFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if not args.runs:
        args = dataclasses.replace(args, runs=(Path(cli.player_or_newest_run(None)),))
    for run in args.runs:
        if not run.is_dir():
            reason = "a file, not a run's folder" if run.exists() else "no such folder"
            raise Refused(f"{run}: {reason}")
    path = args.svg or picture_path(args)
    picture_file.check_picture_file("--svg", path)
    cli.check_output_path("--svg", path)
    if args.game or args.values is not None:
        picture = draw_agent(args)
    else:
        runs = {run: read_metrics(run) for run in args.runs}
        require_package("matplotlib", "plots", "plot")
        picture = draw_runs(args, runs)
    picture.save(path)
    standard_streams.print_written(path)
    return 0


def picture_path(args: Args) -> Path:
    """Return the default of `--svg`."""
    run, *others = args.runs
    if others:
        return Path("curves.svg")
    name = "game" if args.game else "curve" if args.values is None else "values"
    return run / f"{name}.svg"


def read_metrics(run: Path) -> list[Row]:
    """Return the rows of a run's metrics.

    Raises:
        Refused: the file is not one of metrics, or has no training or evaluation.
    """
    path = RunFolder(run).metrics
    read_settings(run)  # they have the version of the folder's formats
    try:
        metrics = RunFolder(run).rows()
    except ValueError as error:
        raise Refused(f"{path}: not a run's metrics ({error})") from None
    if not any(isinstance(row, Chunk) for row in metrics):
        raise Refused(f"{path}: no training in it")
    graded = [row for row in metrics if isinstance(row, Evaluated)]
    if not any(row.grade.rates or row.grade.followed for row in graded):
        raise Refused(f"{path}: no evaluation in it")
    return metrics


def name_and_config(run: Path) -> tuple[str, Config]:
    """Return the name of a run in a legend, and its settings, from its `config.json`.

    The name is the preset and the settings that differ from it, except for the settings
    of the evaluations.

    Raises:
        Refused: there is no such file, or it has no settings.
    """
    settings = read_settings(run)
    preset = PRESETS[settings.preset]
    others = [
        f"{field}={value}"
        for field, value in settings.config.as_dict().items()
        if not field.startswith("eval_") and value != getattr(preset, field)
    ]
    return " ".join([settings.preset, *others]), settings.config


def show_learned_seat(run: Path, config: Config) -> str:
    """Print and return the only seat that the agent learned; "" for both seats."""
    from jax_ttt.text import grade_text

    learned = grade_text.learned_seat(config.seats)
    if learned:
        print(f"{run} {learned}")
    return learned


def draw_runs(args: Args, runs: dict[Path, list[Row]]) -> "Picture":
    """Draw the curves of one run, or the mean curves of runs with the same name."""
    names, configs = zip(*map(name_and_config, runs), strict=True)
    first = configs[0]
    if len({(config.env_id, config.seats) for config in configs}) > 1:
        raise Refused("runs of one game, and of the same seats")
    by_round = len(runs) == 1 and first.finds_counterexamples
    for run, metrics in runs.items():
        if not (metrics_rows.evaluated_rows(metrics, first.seats) or by_round):
            raise Refused(f"{run}: no results against random to draw")

    from jax_ttt.pictures import curves

    learned = [
        show_learned_seat(run, config)
        for run, config in zip(runs, configs, strict=True)
    ]
    note = f": {learned[0]}" if learned[0] else ""
    if len(runs) == 1:
        ((run, metrics),) = runs.items()
        title = f"{run.resolve().name}{note}"
        return curves.draw_run(metrics, title, first, args.theme)
    groups: dict[str, list[list[Row]]] = {}
    for name, metrics in zip(names, runs.values(), strict=True):
        groups.setdefault(name, []).append(metrics)
    return curves.mean_curves(groups, f"{len(runs)} runs{note}", first, args.theme)


def draw_agent(args: Args) -> "Picture":
    """Draw the agent's game against itself, or its values of a board."""
    if len(args.runs) > 1 or (args.game and args.values is not None):
        raise Refused("--game and --values each draw one picture of one run")
    if args.svg and picture_file.file_ending(args.svg) != ".svg":
        require_package("cairosvg", "png", f"--svg {args.svg}")
    run = next(iter(args.runs))
    cli.set_up_device(cli.MachineFlags())

    from jax_ttt.pictures import board_svg
    from jax_ttt.players import saved_agents
    from jax_ttt.text.board_text import find_position

    agent = saved_agents.load_agent(run)
    game = agent.config.env_id
    check_board(game, args.values)
    show_learned_seat(run, agent.config)
    if args.values is None:
        return board_svg.animation(agent.game_against_itself().states, args.theme)
    try:
        position = find_position(game, args.values.replace(".", "-"))
    except ValueError as error:
        raise Refused(f"--values {args.values}: {error}") from None
    return board_svg.values_picture(agent, position, args.theme)


def check_board(env_id: str, cells: str | None) -> None:
    """Raise `Refused` if a game is not enumerable, or `cells` is not its board."""
    game = GAMES[env_id]
    drawn = game_facts.games_with_all_boards()
    if env_id not in drawn:
        rule = f"need an enumerable game of stones: {', '.join(drawn)}"
        raise Refused(f"--game and --values {rule}, not {env_id}")
    if cells is None:
        return
    size, (first, second) = math.prod(game.shape), LETTERS
    if len(cells) != size or not set(cells) <= {first, second, ".", "-"}:
        rule = f"must be {size} cells, each {first}, {second} or . (free)"
        raise Refused(f"--values {rule}, got {cells!r}")


COMMAND = cli.Command(
    module="jax_ttt.plot",
    args_type=Args,
    main=main,
    examples={
        "runs/RUN": "Draw how a run learned.",
        "runs/RUN --values X...O...X": "Draw what the agent expects of each move.",
    },
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
