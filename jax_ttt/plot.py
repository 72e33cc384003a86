"""Draw runs: learning curves, a game of the agent, its values of the moves.

python -m jax_ttt.plot RUN
"""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config import game_facts
from jax_ttt.config.errors import Refused, require_package
from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.shared_flags import MachineFlags, UserGameFlags
from jax_ttt.files import picture_file, run_folder
from jax_ttt.files.picture_file import Theme
from jax_ttt.files.run_folder import read_settings
from jax_ttt.runtime import atomic_files, standard_streams


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Draw runs as SVG, PNG or PDF files.

    One run: its results against random by seat, the update from which on it is proven
    unbeatable, its loss and schedules; with --start-share, the positions reached and
    the winning replies by round. Several runs: mean and range of those with the same
    settings. A sweep's file: its agents, over their seeds or over the values of its
    grid. Exit codes: 0 done, 1 failed, 2 bad flags or file.
    """

    runs: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Runs' folders, or a sweep's file; by default the newest run below runs/."""
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
    or values.svg in the run's folder, curves.svg where several are given, or a file
    beside the sweep's. Curves need the extra `plots`; --game and --values as PNG or PDF
    the extra `png`."""
    user_game: UserGameFlags = field(default_factory=UserGameFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    runs = args.runs or (Path(run_folder.player_or_newest_run(None)),)
    is_sweep = len(runs) == 1 and runs[0].is_file() and runs[0].suffix == ".jsonl"
    for run in runs:
        if not run.is_dir() and not is_sweep:
            reason = "a file, not a run's folder" if run.exists() else "no such folder"
            raise Refused(f"{run}: {reason}")
    path = args.svg or picture_path(args, runs)
    picture_file.check_picture_file("--svg", path)
    atomic_files.check_output_path("--svg", path)
    draws_agent = args.game or args.values is not None
    if draws_agent:
        check_flags(args, runs, is_sweep)
        cli.set_up_device(MachineFlags())

    from jax_ttt.api.agent import load
    from jax_ttt.api.draw import draw
    from jax_ttt.api.values import q_values
    from jax_ttt.text import grade_text

    thing = runs[0] if is_sweep else runs
    configs = []
    if draws_agent:
        thing = agent = load(runs[0])
        configs = [agent.config]
        check_game(agent.config.env_id)
        if args.values is not None:
            try:
                thing = q_values(agent, args.values)
            except Refused as error:
                raise Refused(f"--values {error}") from None
    elif not is_sweep:
        configs = [read_settings(run).config for run in runs]
    for run, config in zip(runs, configs, strict=False):
        if learned := grade_text.learned_seat(config.seats):
            print(f"{run} {learned}")
    draw(thing, path, theme=args.theme)
    standard_streams.print_written(path)
    return 0


def picture_path(args: Args, runs: Sequence[Path]) -> Path:
    """Return the default of `--svg`."""
    if len(runs) > 1:
        return Path("curves.svg")
    if runs[0].is_file():
        return runs[0].with_suffix(".svg")
    name = "game" if args.game else "curve" if args.values is None else "values"
    return runs[0] / f"{name}.svg"


def check_flags(args: Args, runs: Sequence[Path], is_sweep: bool) -> None:
    """Raise `Refused` if the flags ask for no picture of one agent."""
    if is_sweep or len(runs) > 1 or (args.game and args.values is not None):
        raise Refused("--game and --values each draw one picture of one run")
    if args.svg and picture_file.file_ending(args.svg) != ".svg":
        require_package("cairosvg", "png", f"--svg {args.svg}")


def check_game(env_id: EnvId) -> None:
    """Raise `Refused` if a game's boards can't be drawn."""
    games = game_facts.games_with_all_boards()
    if env_id not in games:
        rule = f"need an enumerable game of stones: {', '.join(games)}"
        raise Refused(f"--game and --values {rule}, not {env_id}")


COMMAND = cli.Command(
    module="jax_ttt.plot",
    args_type=Args,
    main=main,
    examples={
        "runs/RUN": "Draw how a run learned.",
        "runs/SWEEP.jsonl": "Draw the agents of a sweep.",
        "runs/RUN --values X...O...X": "Draw what the agent expects of each move.",
    },
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
