"""Loggers of a run's metrics: TensorBoard and Weights & Biases.

They receive the numbers of `metrics.jsonl` but for those in lists, each at its update.
Both packages are optional, so they are imported only where they are used.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from jax_ttt.files import json_records
from jax_ttt.files.metrics_rows import Row
from jax_ttt.files.run_folder import Plan, RunFolder
from jax_ttt.runtime import standard_streams


class Loggers:
    """Sends rows to a plan's loggers; one that fails is dropped with a warning."""

    def __init__(self, run: RunFolder, plan: Plan, first_update: int) -> None:
        """Open them; the first row is of `first_update` or later."""
        self._tensorboard: Any = None
        self._wandb: Any = None
        with self._dropping_at_failure("tensorboard"):
            if plan.tensorboard:
                from tensorboardX import SummaryWriter

                self._tensorboard = SummaryWriter(
                    str(run.tensorboard),
                    # TensorBoard ignores older rows from here on.
                    purge_step=first_update,
                    # Without it, two files of one second would have the same name.
                    filename_suffix=f".{first_update}",
                )
        with self._dropping_at_failure("wandb"):
            if plan.wandb is not None:
                # As an argument of `init`, W&B would report the run to its server.
                os.environ["WANDB_MODE"] = os.environ.get("WANDB_MODE") or "offline"
                import wandb  # type: ignore[import-not-found]

                config = {"preset": plan.preset, "seed": plan.seed}
                self._wandb = wandb.init(
                    project="jax_ttt",
                    name=run.path.resolve().name,
                    id=plan.wandb,
                    resume="allow",
                    dir=str(run.path),
                    config=config | plan.config.as_dict(),
                    # Without these, W&B captures and adds to the command's output.
                    settings=wandb.Settings(console="off", silent=True),
                )

    @contextlib.contextmanager
    def _dropping_at_failure(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the run must not end by it
            setattr(self, f"_{name}", None)
            text = f"warning: logging to {name} stopped: {error!r}"
            standard_streams.print_stderr(text)

    def write_row(self, row: Row) -> None:
        """Send the numbers of a row; booleans become 0 or 1."""
        fields = json_records.flatten_record(json_records.to_dict(row), "/")
        numbers = {
            name: int(value) if isinstance(value, bool) else value
            for name, value in fields.items()
            if isinstance(value, int | float) and name != "update"
        }
        with self._dropping_at_failure("tensorboard"):
            if self._tensorboard is not None:
                for name, number in numbers.items():
                    self._tensorboard.add_scalar(name, number, row.update)
                self._tensorboard.flush()
        with self._dropping_at_failure("wandb"):
            if self._wandb is not None:
                self._wandb.log(numbers, step=row.update)

    def close(self) -> None:
        """Write everything out."""
        with self._dropping_at_failure("tensorboard"):
            if self._tensorboard is not None:
                self._tensorboard.close()
        with self._dropping_at_failure("wandb"):
            if self._wandb is not None:
                self._wandb.finish()
