"""List the saved runs, the newest last.

python -m jax_ttt.runs
"""

import dataclasses
import sys
from dataclasses import field
from pathlib import Path

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import Refused
from jax_ttt.config.shared_flags import UserGameFlags
from jax_ttt.files import json_records, run_folder
from jax_ttt.runtime import standard_streams
from jax_ttt.runtime.words import count_phrase


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
    user_game: UserGameFlags = field(default_factory=UserGameFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if args.folder != run_folder.RUNS and not args.folder.is_dir():
        reason = "a file, not a folder" if args.folder.exists() else "no such folder"
        raise Refused(f"{args.folder}: {reason}")
    summaries, reasons = run_folder.run_summaries(args.folder)
    if args.json:
        print(json_records.to_json({"runs": summaries}))
    elif summaries:
        from jax_ttt.text import summary_tables

        print(summary_tables.runs_table(summaries))
    elif not reasons:
        print(f"no run below {args.folder}/: train one with python -m jax_ttt.train")
    if reasons:
        example = ", for instance" if len(reasons) > 1 else ":"
        reason = reasons[0].args[0]
        standard_streams.print_stderr(
            f"{count_phrase(len(reasons), 'run')} can't be read{example} {reason}"
        )
    return 0


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
