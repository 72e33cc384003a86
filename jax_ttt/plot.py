"""Draw runs as SVG files: how they learned, how an agent plays, what it thinks.

python -m jax_ttt.plot RUN
"""

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from jax_ttt import cli
from jax_ttt.config import ENUMERABLE, EnvId
from jax_ttt.pictures import Theme

if TYPE_CHECKING:
    from jax_ttt.pictures import Picture


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Draw runs as SVG files.

    One run: its results against random by seat, the moment of proof, loss and
    schedules. Several: mean and range of those with the same preset. Exit codes: 0
    done, 1 failed, 2 bad flags or file.
    """

    runs: tyro.conf.Positional[list[Path]]
    """Runs' folders."""
    game: tyro.conf.FlagCreatePairsOff[bool] = False
    """Draw the agent's likeliest game against itself, animated, in place of curves."""
    values: str | None = None
    """Draw what the agent thinks each move of this board is worth, beside the exact
    values; nine of X, O and -, row by row, like X---O---X."""
    theme: Theme = "light"
    """The colours: on white, or on black."""
    svg: Path | None = None
    """File to write; by default curve.svg, game.svg or values.svg in the run's folder,
    or curves.svg where several are given."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "plot")
    if not args.runs:
        raise cli.UsageError("plot needs the folder of a run")
    path = args.svg or default_path(args)
    cli.check_output("--svg", path)
    if args.game or args.values is not None:
        picture = of_agent(args)
    else:
        runs = {run: read(run / "metrics.jsonl") for run in args.runs}
        cli.require("matplotlib", "plots", "plot")
        picture = of_runs(args, runs)
    picture.save(path)
    print(f"wrote {path}")
    return 0


def default_path(args: Args) -> Path:
    """Return where the picture goes if nothing is said."""
    if len(args.runs) > 1:
        return Path("curves.svg")
    name = "game" if args.game else "curve" if args.values is None else "values"
    return args.runs[0] / f"{name}.svg"


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a run's metrics.

    Raises:
        UsageError: there is no such file, or it holds no training.
    """
    try:
        lines = path.read_text("utf-8").split("\n")
        # What stands after the last line break is the half of a line at most.
        rows = [json.loads(line) for line in lines[:-1]]
        chunks = [row for row in rows if row["event"] == "chunk"]
        for row in chunks:
            _ = row["games"], row["wins"], row["losses"], row["loss"], row["epsilon"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise cli.UsageError(f"{path}: not a run's metrics ({error!r})") from None
    if not chunks:
        raise cli.UsageError(f"{path}: no training in it")
    return rows


def about(run: Path) -> tuple[str, EnvId]:
    """Return a run's preset and its game, as its `config.json` says.

    Raises:
        UsageError: there is no such file, or it says something else.
    """
    path = run / "config.json"
    try:
        said = json.loads(path.read_text("utf-8"))
        return said["preset"], said["config"]["env_id"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise cli.UsageError(f"{path}: not a run's settings ({error!r})") from None


def of_runs(args: Args, runs: dict[Path, list[dict[str, Any]]]) -> "Picture":
    """Draw one run's curves, or those of several by preset."""
    known = {run: about(run) for run in runs}
    env_ids: list[EnvId] = [env_id for _, env_id in known.values()]
    first, *others = dict.fromkeys(env_ids)
    if others:
        raise cli.UsageError(f"runs of one game, not of {first} and {others[0]}")

    from jax_ttt import curves

    if len(runs) == 1:
        (run, rows), *_ = runs.items()
        return curves.learning(rows, run.resolve().name, first, args.theme)
    groups: dict[str, list[Any]] = {}
    for run, rows in runs.items():
        groups.setdefault(known[run][0], []).append(rows)
    return curves.several(groups, f"{len(runs)} runs", first, args.theme)


def of_agent(args: Args) -> "Picture":
    """Draw the agent's game against itself, or its values of a board."""
    if len(args.runs) > 1 or (args.game and args.values is not None):
        raise cli.UsageError("--game and --values each draw one picture of one run")
    if args.values is not None:
        cli.require("matplotlib", "plots", "--values")

    from jax_ttt import agents, boards

    agent = agents.load(args.runs[0])
    game = agent.config.env_id
    if game not in ENUMERABLE:
        rule = f"need a game that can be walked: {', '.join(ENUMERABLE)}"
        raise cli.UsageError(f"--game and --values {rule}, not {game}")
    if args.values is None:
        return boards.animation(boards.self_play(agent), args.theme)
    try:
        position = boards.find(game, args.values)
    except ValueError as error:
        raise cli.UsageError(f"--values {args.values}: {error}") from None
    return boards.values(agent, position, args.theme)


if __name__ == "__main__":
    sys.exit(main(None))
