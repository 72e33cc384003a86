"""A run's metrics, mirrored to TensorBoard and to Weights & Biases. Imports neither.

`metrics.jsonl` stays the source: a logger has its numbers and no others, each at its
update. A logger that fails is given up with a line on stderr, and the run goes on.
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
"""TensorBoard's file in a run's folder, by its time."""

Numbers = dict[str, int | float]
"""A row's numbers, by name."""


class Logger(NamedTuple):
    """One place that rows go to."""

    write: Callable[[Numbers, int], object]
    """Takes a row's numbers, and their update."""
    close: Callable[[], object]


class Loggers:
    """Sends rows to all loggers that still work."""

    def __init__(self, openers: dict[str, Callable[[], Logger]]) -> None:
        """Open loggers, by the names that a failure is reported with."""
        self._loggers: dict[str, Logger] = {}
        for name, opener in openers.items():
            if (logger := self._tried(name, opener)) is not None:
                self._loggers[name] = logger

    def write_row(self, row: Row) -> None:
        """Send a row of the metrics."""
        sent = flat_numbers(plain.to_dict(row))
        del sent["update"]
        for name, logger in list(self._loggers.items()):
            self._tried(name, logger.write, sent, row.update)

    def close(self) -> None:
        """Write what is not written yet, and close all loggers."""
        for name, logger in list(self._loggers.items()):
            self._tried(name, logger.close)

    def _tried(self, name: str, function: Callable, *args: object) -> Any:  # noqa: ANN401
        try:
            return function(*args)
        except Exception as error:  # whatever it is, it must not cost the run
            self._loggers.pop(name, None)
            streams.tell(f"warning: {name} is given up: {error!r}")
            return None


def flat_numbers(row: JsonObject) -> Numbers:
    """Return the numbers of a row, without levels: `exact/first/win_rate`.

    Booleans are 0 or 1, an interval is two numbers, `_low` and `_high`; texts are left
    out.
    """
    found: Numbers = {}
    for name, value in plain.flattened(row, "/").items():
        if isinstance(value, int | float):
            found[name] = int(value) if isinstance(value, bool) else value
    return found


def tensorboard_logger(folder: Path) -> Logger:
    """Log to an event file below the run's folder, a row an event.

    A number is a float32 there. A row is on disk when it is written.
    """
    # Not SummaryWriter: it writes in a thread, and once that has died of a full disk
    # the run would wait for it for ever.
    from tensorboardX import RecordWriter

    # protobuf makes these classes on import, where a checker can't see them.
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
    """Log to a run of W&B, with its files below the run's folder.

    `about` is what W&B calls its config. Offline unless $WANDB_MODE says otherwise.
    """
    # Not as an argument of init: W&B would report to its server that a run begins.
    os.environ["WANDB_MODE"] = os.environ.get("WANDB_MODE") or "offline"
    import wandb  # type: ignore[import-not-found]

    run = wandb.init(
        project="jax_ttt",
        name=folder.resolve().name,
        dir=str(folder),
        config=about,
        # What the command prints stays its own.
        settings=wandb.Settings(console="off", silent=True),
    )
    return Logger(lambda sent, update: run.log(sent, step=update), run.finish)
