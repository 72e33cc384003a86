"""Loggers of a run's metrics: TensorBoard and Weights & Biases.

Importing this module imports neither. Loggers receive exactly the numbers of
`metrics.jsonl`, each at its update. A logger that fails is dropped with a warning on
stderr, and the run continues.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from jax_ttt.results import plain
from jax_ttt.results.plain import JsonObject
from jax_ttt.results.rows import Row
from jax_ttt.runtime import streams

EVENTS = "tensorboard/events.out.tfevents.{}.jax_ttt"
"""Path of TensorBoard's file in a run's folder, with a place for the time."""

Numbers = dict[str, int | float]
"""The numbers of a row by name."""


class Logger(NamedTuple):
    """One destination of rows."""

    write: Callable[[Numbers, int], object]
    """Takes the numbers of a row and its update."""
    close: Callable[[], object]


class Loggers:
    """Sends rows to all loggers that have not failed."""

    def __init__(self, openers: dict[str, Callable[[], Logger]]) -> None:
        """Open loggers by name; warnings use these names."""
        self._loggers: dict[str, Logger] = {}
        for name, opener in openers.items():
            if (logger := self._tried(name, opener)) is not None:
                self._loggers[name] = logger

    def write_row(self, row: Row) -> None:
        """Send a row of the metrics to all loggers."""
        sent = flat_numbers(plain.to_dict(row))
        del sent["update"]
        for name, logger in list(self._loggers.items()):
            self._tried(name, logger.write, sent, row.update)

    def close(self) -> None:
        """Flush and close all loggers."""
        for name, logger in list(self._loggers.items()):
            self._tried(name, logger.close)

    def _tried(self, name: str, function: Callable, *args: object) -> Any:  # noqa: ANN401
        try:
            return function(*args)
        except Exception as error:  # no failure of a logger may end the run
            self._loggers.pop(name, None)
            streams.tell(f"warning: logging to {name} stopped: {error!r}")
            return None


def opened(
    folder: Path, about: JsonObject, to_tensorboard: bool, to_wandb: bool
) -> Loggers:
    """Open the loggers of the run in this folder that are asked for, if any."""
    openers: dict[str, Callable[[], Logger]] = {}
    if to_tensorboard:
        openers["tensorboard"] = lambda: tensorboard_logger(folder)
    if to_wandb:
        openers["wandb"] = lambda: wandb_logger(folder, about)
    return Loggers(openers)


def flat_numbers(row: JsonObject) -> Numbers:
    """Return the numbers of a row by flat names, for instance `exact/first/win_rate`.

    Booleans become 0 or 1. An interval becomes two numbers, `_low` and `_high`. Texts
    are omitted.
    """
    found: Numbers = {}
    for name, value in plain.flattened(row, "/").items():
        if isinstance(value, int | float):
            found[name] = int(value) if isinstance(value, bool) else value
    return found


def tensorboard_logger(folder: Path) -> Logger:
    """Return a logger to a TensorBoard event file in the run's folder.

    Each row is one event and is flushed to disk at once. Numbers become float32.
    """
    # Not SummaryWriter: it writes in a thread. If a full disk ends the thread, the run
    # waits for it forever.
    from tensorboardX import RecordWriter

    # protobuf creates these classes on import; type checkers don't see them.
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[attr-defined]
    from tensorboardX.proto.summary_pb2 import Summary  # type: ignore[attr-defined]

    path = folder / EVENTS.format(f"{time.time():.0f}")
    path.parent.mkdir(exist_ok=True)
    file = RecordWriter(str(path))

    def add(**fields: object) -> None:
        event = Event(wall_time=time.time(), **fields)
        file.write(event.SerializeToString())
        file.flush()

    def write(numbers: Numbers, update: int) -> None:
        values = [Summary.Value(tag=k, simple_value=v) for k, v in numbers.items()]
        add(step=update, summary=Summary(value=values))

    add(file_version="brain.Event:2")
    return Logger(write, file.close)


def wandb_logger(folder: Path, about: JsonObject) -> Logger:
    """Return a logger to a run of Weights & Biases, with its files in the run's folder.

    `about` is the run's config. The mode is $WANDB_MODE, offline by default.
    """
    # Not an argument of init: W&B would report the start of the run to its server.
    os.environ["WANDB_MODE"] = os.environ.get("WANDB_MODE") or "offline"
    import wandb  # type: ignore[import-not-found]

    run = wandb.init(
        project="jax_ttt",
        name=folder.resolve().name,
        dir=str(folder),
        config=about,
        # Without these, W&B captures and adds to the command's output.
        settings=wandb.Settings(console="off", silent=True),
    )
    return Logger(lambda sent, update: run.log(sent, step=update), run.finish)
