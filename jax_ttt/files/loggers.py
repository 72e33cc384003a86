"""Loggers of a run's metrics: TensorBoard and Weights & Biases.

Loggers receive exactly the numbers of `metrics.jsonl`, each at its update. A logger
that fails is dropped with a warning on stderr, and the run continues. Both packages are
optional, so they are imported only where they are used.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator

from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.metrics_rows import Row
from jax_ttt.files.run_folder import Plan, RunFolder
from jax_ttt.runtime import standard_streams

Numbers = dict[str, int | float]
"""The numbers of a row by name."""


class TensorBoard:
    """Writes to the run's folder for TensorBoard; numbers become float32."""

    def __init__(self, run: RunFolder, first_update: int) -> None:
        """Open a file; TensorBoard ignores older files' rows from `first_update` on."""
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(
            str(run.tensorboard),
            purge_step=first_update,
            # Without it, two files of one second would have the same name.
            filename_suffix=f".{first_update}",
        )

    def write(self, numbers: Numbers, update: int) -> None:
        """Write the numbers of a row."""
        for name, number in numbers.items():
            self._writer.add_scalar(name, number, update)
        self._writer.flush()

    def close(self) -> None:
        """Write everything out."""
        self._writer.close()


class WeightsAndBiases:
    """Logs to a run of Weights & Biases, with its files in the run's folder.

    The mode is $WANDB_MODE, offline by default.
    """

    def __init__(self, run: RunFolder, config: JsonObject, run_id: str) -> None:
        """Begin or continue the run with this id; `config` is shown beside it."""
        # As an argument of `init`, W&B would report the start of the run to its server.
        os.environ["WANDB_MODE"] = os.environ.get("WANDB_MODE") or "offline"
        import wandb  # type: ignore[import-not-found]

        self._run = wandb.init(
            project="jax_ttt",
            name=run.path.resolve().name,
            id=run_id,
            resume="allow",
            dir=str(run.path),
            config=config,
            # Without these, W&B captures and adds to the command's output.
            settings=wandb.Settings(console="off", silent=True),
        )

    def write(self, numbers: Numbers, update: int) -> None:
        """Log the numbers of a row."""
        self._run.log(numbers, step=update)

    def close(self) -> None:
        """Write everything out."""
        self._run.finish()


class Loggers:
    """Sends rows to all loggers that have not failed."""

    def __init__(
        self, run: RunFolder, plan: Plan, update: int | None, *, writes: bool = True
    ) -> None:
        """Open the loggers of a run's plan; none unless this process `writes`.

        `update` is the one of the checkpoint from which the run continues, or None.
        """
        self._loggers: dict[str, TensorBoard | WeightsAndBiases] = {}
        if not writes:
            return
        first_update = 0 if update is None else update + 1
        if plan.tensorboard:
            with self._dropping_at_failure("tensorboard"):
                self._loggers["tensorboard"] = TensorBoard(run, first_update)
        if (run_id := plan.wandb) is not None:
            config = {"preset": plan.preset, "seed": plan.seed, **plan.config.as_dict()}
            with self._dropping_at_failure("wandb"):
                self._loggers["wandb"] = WeightsAndBiases(run, config, run_id)

    @contextlib.contextmanager
    def _dropping_at_failure(self, name: str) -> Iterator[None]:
        """Drop a logger that fails in the context: the run must not end by it."""
        try:
            yield
        except Exception as error:
            self._loggers.pop(name, None)
            standard_streams.print_stderr(
                f"warning: logging to {name} stopped: {error!r}"
            )

    def write_row(self, row: Row) -> None:
        """Send a row of the metrics to all loggers."""
        numbers = flat_numbers(json_records.to_dict(row))
        del numbers["update"]
        for name, logger in [*self._loggers.items()]:
            with self._dropping_at_failure(name):
                logger.write(numbers, row.update)

    def close(self) -> None:
        """Close all loggers."""
        for name, logger in [*self._loggers.items()]:
            with self._dropping_at_failure(name):
                logger.close()


def new_wandb_id() -> str:
    """Return a new id for a run of Weights & Biases."""
    return secrets.token_hex(4)


def flat_numbers(row: JsonObject) -> Numbers:
    """Return the numbers of a row by flat names, for instance `grade/first/win_rate`.

    Booleans become 0 or 1. Texts and lists are omitted.
    """
    numbers: Numbers = {}
    for name, value in json_records.flatten_record(row, "/").items():
        if isinstance(value, int | float):
            numbers[name] = int(value) if isinstance(value, bool) else value
    return numbers
