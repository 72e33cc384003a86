"""List the saved runs, the newest last.

python -m jax_ttt.runs
"""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import UsageError
from jax_ttt.files import json_records, run_folder
from jax_ttt.files.run_folder import RunSummary
from jax_ttt.text.tables import aligned_lines


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """List the saved runs, the newest last.

    Wins are against a random player, the mean of the seats that the agent learned:
    exact where it was graded exactly, else sampled. Seconds are of training, without
    compilation and evaluation. Exit codes: 0 done, 2 bad flags.
    """

    folder: tyro.conf.Positional[Path] = run_folder.RUNS
    """The folder that holds the runs."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the table."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunsResult:
    """What `runs --json` prints."""

    runs: tuple[RunSummary, ...]
    """The runs below a folder, the newest last."""


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if args.folder != run_folder.RUNS and not args.folder.is_dir():
        raise UsageError(f"{args.folder}: no such folder")
    summaries = run_folder.run_summaries(args.folder)
    if args.json:
        print(json_records.to_json(RunsResult(runs=tuple(summaries))))
    elif summaries:
        print(runs_table(summaries))
    else:
        print(f"no run below {args.folder}/: train one with python -m jax_ttt.train")
    return 0


def runs_table(summaries: Sequence[RunSummary]) -> str:
    """Return a line for each run, with the game if the runs are of several games."""
    heads = ["seed", "preset", "game", "proven", "wins %", "seconds", "run"]
    rows = [heads, *(_cells(run) for run in summaries)]
    if all(run.env_id == summaries[0].env_id for run in summaries):
        rows = [[*row[:2], *row[3:]] for row in rows]
    text_columns = {"preset", "game", "proven", "run"}
    left = [place for place, head in enumerate(rows[0]) if head in text_columns]
    return "\n".join(aligned_lines(rows, left))


def _cells(run: RunSummary) -> list[str]:
    grade = run.grade
    proven = {True: "yes", False: "no", None: "-"}[grade and grade.unbeatable]
    wins = "-"
    if grade is not None and grade.mean_win_rate is not None:
        wins = f"{100 * grade.mean_win_rate:.3f}"
    seconds = "-" if run.seconds is None else f"{run.seconds:.2f}"
    name = run.run_dir if run.saved else f"{run.run_dir} (no agent saved)"
    return [str(run.seed), run.preset, run.env_id, proven, wins, seconds, name]


COMMAND = cli.Command(
    module="jax_ttt.runs",
    args_type=Args,
    main=main,
    examples={
        "": "List the runs below runs/.",
        "--json": "List them as JSON.",
    },
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
