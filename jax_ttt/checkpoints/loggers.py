"""Loggers of a run's metrics: TensorBoard and Weights & Biases.

Importing this module imports neither. Loggers receive exactly the numbers of
`metrics.jsonl`, each at its update. A logger that fails is dropped with a warning on
stderr, and the run continues.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.results.free_folders import EVENTS
from jax_ttt.results.rows import Row
from jax_ttt.runtime import streams

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Numbers = dict[str, int | float]
"""The numbers of a row by name."""


class Logger(NamedTuple):
    """One destination of rows."""

    write: Callable[[Numbers, int], object]
    """Takes the numbers of a row and its update."""
    close: Callable[[], object]
    position: Callable[[], object]
    """Returns what a later process needs to continue here, as plain data."""


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
        sent = flat_numbers(records.to_dict(row))
        del sent["update"]
        for name, logger in list(self._loggers.items()):
            self._tried(name, logger.write, sent, row.update)

    def positions(self) -> JsonObject:
        """Return by name what a later process needs to continue here."""
        return {
            name: self._tried(name, logger.position)
            for name, logger in list(self._loggers.items())
        }

    def close(self) -> None:
        """Flush and close all loggers."""
        for name, logger in list(self._loggers.items()):
            self._tried(name, logger.close)

    def _tried(
        self,
        name: str,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # no failure of a logger may end the run
            self._loggers.pop(name, None)
            streams.tell(f"warning: logging to {name} stopped: {error!r}")
            return None


def loggers_of(
    folder: Path,
    about: JsonObject,
    to_tensorboard: bool,
    to_wandb: bool,
    before: JsonObject,
) -> Loggers:
    """Open the loggers of the run in this folder that are asked for, if any.

    `before` holds the positions at which an earlier process left off.
    """
    openers: dict[str, Callable[[], Logger]] = {}
    if to_tensorboard:
        sizes = before.get("tensorboard")
        sizes = sizes if isinstance(sizes, dict) else None
        openers["tensorboard"] = lambda: tensorboard_logger(folder, sizes)
    if to_wandb:
        number = before.get("wandb")
        number = number if isinstance(number, str) else None
        openers["wandb"] = lambda: wandb_logger(folder, about, number)
    return Loggers(openers)


def flat_numbers(row: JsonObject) -> Numbers:
    """Return the numbers of a row by flat names, for instance `exact/first/win_rate`.

    Booleans become 0 or 1. An interval becomes two numbers, `_low` and `_high`. Texts
    are omitted.
    """
    found: Numbers = {}
    for name, value in records.flattened(row, "/").items():
        if isinstance(value, int | float):
            found[name] = int(value) if isinstance(value, bool) else value
    return found


def tensorboard_logger(folder: Path, before: Mapping[str, int] | None) -> Logger:
    """Return a logger to a new TensorBoard event file in the run's folder.

    Each row is one event and is flushed to disk at once. Numbers become float32.
    `before` are the sizes of the files of earlier processes, by name; what was written
    there later is removed.
    """
    # Not SummaryWriter: it writes in a thread. If a full disk ends the thread, the run
    # waits for it forever.
    from tensorboardX import RecordWriter

    # protobuf creates these classes on import; type checkers don't see them.
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[attr-defined]
    from tensorboardX.proto.summary_pb2 import Summary  # type: ignore[attr-defined]

    for old in folder.glob(EVENTS.format("*")):
        size = (before or {}).get(old.name, 0)
        if old.stat().st_size > size:
            os.truncate(old, size)
    path = folder / EVENTS.format(f"{time.time():.0f}")
    while path.exists():  # TensorBoard reads the files in the order of their names
        path = folder / EVENTS.format(int(path.name.split(".")[3]) + 1)
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

    def sizes() -> dict[str, int]:
        found = folder.glob(EVENTS.format("*"))
        return {part.name: part.stat().st_size for part in found}

    return Logger(write, file.close, sizes)


def wandb_logger(folder: Path, about: JsonObject, number: str | None) -> Logger:
    """Return a logger to a run of Weights & Biases, with its files in the run's folder.

    `about` is the run's config. The mode is $WANDB_MODE, offline by default. `number`
    identifies the run of an earlier process, to continue it.
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
        **({"id": number, "resume": "allow"} if number else {}),
    )
    return Logger(
        lambda sent, update: run.log(sent, step=update), run.finish, lambda: run.id
    )
