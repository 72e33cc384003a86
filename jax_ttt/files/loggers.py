"""Loggers of a run's metrics: TensorBoard and Weights & Biases.

A logger is a generator that is sent rows. It passes on their numbers but for those in
lists, each at its update. Both packages are optional, so they are imported only where
they are used.
"""

import os
from collections.abc import Callable, Generator

from jax_ttt.files.metrics_rows import Row, numbers_in
from jax_ttt.files.run_folder import Plan, RunFolder
from jax_ttt.runtime import standard_streams

Logger = Generator[None, Row, None]
Loggers = dict[str, Logger]
"""The loggers of a run, by their names."""


def tensorboard(run: RunFolder, update: int) -> Logger:
    """Write for TensorBoard, which ignores older rows of `update` and later ones."""
    from tensorboardX import SummaryWriter

    # Without the suffix, two files of one second would have the same name.
    with SummaryWriter(
        str(run.tensorboard), purge_step=update, filename_suffix=f".{update}"
    ) as writer:
        while True:
            row = yield
            for name, number in numbers_in(row).items():
                writer.add_scalar(name, number, row.update)
            writer.flush()


def wandb(run: RunFolder, plan: Plan) -> Logger:
    """Log for Weights & Biases; a run that continues keeps its id there."""
    # As an argument of `init`, W&B would report the run to its server.
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
    try:
        while True:
            row = yield
            logged.log(numbers_in(row), step=row.update)
    finally:
        logged.finish()


def open_loggers(run: RunFolder, plan: Plan, first_update: int) -> Loggers:
    """Return a plan's loggers, ready for rows of `first_update` or later."""
    loggers: Loggers = {}
    if plan.tensorboard:
        loggers["tensorboard"] = tensorboard(run, first_update)
    if plan.wandb is not None:
        loggers["wandb"] = wandb(run, plan)
    for_each(loggers, next)
    return loggers


def for_each(loggers: Loggers, call: Callable[[Logger], object]) -> None:
    """Call a function with each logger; one that fails is dropped with a warning."""
    for name, logger in [*loggers.items()]:
        try:
            call(logger)
        except Exception as error:  # the run must not end by it
            del loggers[name]
            text = f"warning: logging to {name} stopped: {error!r}"
            standard_streams.print_stderr(text)
