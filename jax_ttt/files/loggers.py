"""Loggers of a run's metrics: TensorBoard and Weights & Biases.

They receive exactly the numbers of `metrics.jsonl`, each at its update. Both packages
are optional, so they are imported only where they are used.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from jax_ttt.files import json_records
from jax_ttt.files.metrics_rows import Row
from jax_ttt.files.run_folder import Plan, RunFolder
from jax_ttt.runtime import standard_streams

Log = Callable[[dict[str, int | float], int], None]
"""Logs the numbers of a row, by their names, at an update."""


@contextlib.contextmanager
def tensorboard(run: RunFolder, plan: Plan, first_update: int) -> Iterator[Log]:
    """Write to the run's folder; TensorBoard ignores older rows from `first_update`."""
    del plan
    from tensorboardX import SummaryWriter

    # Without the suffix, two files of one second would have the same name.
    suffix = f".{first_update}"
    with SummaryWriter(
        str(run.tensorboard), purge_step=first_update, filename_suffix=suffix
    ) as writer:

        def log(numbers: dict[str, int | float], update: int) -> None:
            for name, number in numbers.items():
                writer.add_scalar(name, number, update)
            writer.flush()

        yield log


@contextlib.contextmanager
def wandb(run: RunFolder, plan: Plan, first_update: int) -> Iterator[Log]:
    """Log to the plan's run of W&B, in the mode $WANDB_MODE, offline by default."""
    del first_update
    # As an argument of `init`, W&B would report the start of the run to its server.
    os.environ["WANDB_MODE"] = os.environ.get("WANDB_MODE") or "offline"
    import wandb  # type: ignore[import-not-found]

    logged = wandb.init(
        project="jax_ttt",
        name=run.path.resolve().name,
        id=plan.wandb,
        resume="allow",
        dir=str(run.path),
        config={"preset": plan.preset, "seed": plan.seed, **plan.config.as_dict()},
        # Without these, W&B captures and adds to the command's output.
        settings=wandb.Settings(console="off", silent=True),
    )
    yield lambda numbers, update: logged.log(numbers, step=update)
    logged.finish()


class Loggers:
    """Sends rows to a plan's loggers; one that fails is dropped with a warning."""

    def __init__(self, run: RunFolder, plan: Plan, first_update: int) -> None:
        """Open them; the first row is of `first_update` or later."""
        self._logs: dict[str, tuple[Log, ExitStack]] = {}
        wanted = {tensorboard: plan.tensorboard, wandb: plan.wandb is not None}
        for logger in [logger for logger, is_wanted in wanted.items() if is_wanted]:
            with self._dropping_at_failure(logger.__name__):
                stack = ExitStack()
                log = stack.enter_context(logger(run, plan, first_update))
                self._logs[logger.__name__] = log, stack

    @contextlib.contextmanager
    def _dropping_at_failure(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the run must not end by it
            self._logs.pop(name, None)
            text = f"warning: logging to {name} stopped: {error!r}"
            standard_streams.print_stderr(text)

    def write_row(self, row: Row) -> None:
        """Send the numbers of a row; booleans become 0 or 1, and texts are omitted."""
        flat = json_records.flatten_record(json_records.to_dict(row), "/")
        numbers = {name: x for name, x in flat.items() if isinstance(x, int | float)}
        del numbers["update"]
        numbers = {n: int(x) if isinstance(x, bool) else x for n, x in numbers.items()}
        for name, (log, _) in [*self._logs.items()]:
            with self._dropping_at_failure(name):
                log(numbers, row.update)

    def close(self) -> None:
        """Write everything out."""
        for name, (_, stack) in [*self._logs.items()]:
            with self._dropping_at_failure(name):
                stack.close()
