"""Draw a run: how its games ended, and how strong it became, as an SVG file.

python -m jax_ttt.plot RUN
"""

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tyro

from jax_ttt import cli


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Draw a run: wins, draws and losses over the games, as an SVG file.

    Above the games of the training, below the results against random. Exit codes:
    0 done, 1 failed, 2 bad flags or file.
    """

    run: tyro.conf.Positional[Path]
    """A run's folder."""
    svg: Path | None = None
    """File to write; by default curve.svg in the run's folder."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "plot")
    path = args.svg or args.run / "curve.svg"
    rows = read(args.run / "metrics.jsonl")
    cli.check_output("--svg", path)
    cli.require("matplotlib", "plots", "plot")

    from jax_ttt import plots

    plots.training(rows, args.run.resolve().name, path)
    print(f"wrote {path}")
    return 0


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
            _ = row["games"], row["wins"], row["losses"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise cli.UsageError(f"{path}: not a run's metrics ({error!r})") from None
    if not chunks:
        raise cli.UsageError(f"{path}: no training in it")
    return rows


if __name__ == "__main__":
    sys.exit(main(None))
