"""Runs that are followed while they train: what is new in their files.

Another process writes the files, maybe on another machine, and nothing here locks them:
any file may be missing, incomplete, or replaced by those of a run that was resumed.
"""

import asyncio
import dataclasses
import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal, cast

from jax_ttt.files import json_records, run_folder
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.run_folder import RUNS, RunFolder
from jax_ttt.runtime import atomic_files

State = Literal["training", "ended", "stopped", "gone"]
"""Whether a run trains, has ended with an agent, without one, or was deleted."""
_LOOK_SECONDS = 0.3
"""Time between two looks at the files of a run."""
_COMMENT_SECONDS = 15.0
"""Time without news after which a stream sends a comment."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Seen:
    """What a reader of a run has got."""

    offset: int = 0
    """Bytes of the metrics, whole lines."""
    last_line: bytes = b""
    """The last of these lines. A resumed run has another one in its place."""
    loss: float | None = None
    """The loss of the last row of updates."""
    plan: JsonObject = dataclasses.field(default_factory=dict)
    snapshots: tuple[int, ...] = ()
    state: State | None = None


NOTHING = Seen()
"""What a new reader has got."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class News:
    """What is new of a run since a reader has looked."""

    state: State
    is_first: bool
    """Whether the rows are all rows: the reader has none, or they were replaced."""
    plan: JsonObject
    """Its `env_id`, `preset`, `seed` and `num_updates`; empty if they can't be read."""
    snapshots: tuple[int, ...]
    rows: list[JsonObject]
    """The new evaluations: `update`, `games`, `loss`, `seconds` and `grade`."""
    counts: JsonObject | None
    """The last new row of updates or evaluation: `update`, `games` and `loss`."""


def news_since(run: RunFolder, seen: Seen) -> tuple[Seen, News]:
    """Return what a reader knows of a run after this look, and what is new in it."""
    lines, is_first = _new_lines(run.metrics, seen)
    if is_first:
        seen = NOTHING
    rows: dict[int, JsonObject] = {}
    counts, loss = None, seen.loss
    for line in lines:
        if (row := _checked_row(line)) is None:
            continue
        loss = cast("float | None", row.get("loss", loss))
        names = ("update", "games")
        counts = {name: row[name] for name in names} | {"loss": loss}
        if row["event"] == "evaluation":
            update = cast("int", row["update"])
            # A search at the end evaluates an update again: the later row counts.
            rows.pop(update, None)
            rows[update] = {
                "update": update,
                "games": row["games"],
                "loss": loss,
                "seconds": row["seconds"],
                "grade": cast("JsonObject", row["grade"]) | {"by_file": True},
            }
    now = Seen(
        offset=seen.offset + sum(map(len, lines)),
        last_line=lines[-1] if lines else seen.last_line,
        loss=loss,
        plan=_plan(run) or seen.plan,
        snapshots=_snapshots(run),
        state=_state(run),
    )
    news = News(
        state=cast("State", now.state),
        is_first=is_first,
        plan=now.plan,
        snapshots=now.snapshots,
        rows=[*rows.values()],
        counts=counts,
    )
    return now, news


def _new_lines(path: Path, seen: Seen) -> tuple[list[bytes], bool]:
    """Return the whole lines after those that were seen, and whether they are all.

    They are all where nothing was seen, or the file has other lines by now.
    """
    start = seen.offset - len(seen.last_line)
    try:
        if not path.is_file():  # a pipe would never end
            return [], True
        with path.open("rb") as file:
            file.seek(start)
            is_first = file.read(len(seen.last_line)) != seen.last_line
            is_first = is_first or seen.offset == 0
            if is_first:
                file.seek(0)
            content = file.read(run_folder.MAX_METRICS)
    except OSError:
        return [], True
    return content[: content.rfind(b"\n") + 1].splitlines(keepends=True), is_first


def _checked_row(line: bytes) -> JsonObject | None:
    """Return the row in a line; None if it is damaged.

    It is not read as a record, since this process may not know the game of the run.
    """
    try:
        row = json_records.from_json(dict[str, object], line)
    except ValueError:
        return None
    numbers = ("update", "games", "seconds")
    if not all(type(row.get(name)) in (int, float) for name in numbers):
        return None
    if row.get("event") == "evaluation":
        return row if isinstance(row.get("grade"), dict) else None
    is_trained = row.get("event") == "chunk" and type(row.get("loss")) is float
    return row if is_trained else None


def _plan(run: RunFolder) -> JsonObject:
    """Return the run's settings that the page shows; empty if they can't be read."""
    try:
        text = atomic_files.read_bounded(run.config, json_records.MAX_FILE_BYTES)
        plan = json_records.from_json(dict[str, object], text)
        config = cast("JsonObject", plan["config"])
        return {
            "env_id": str(config["env_id"]),
            "preset": str(plan["preset"]),
            "seed": int(cast("int", plan["seed"])),
            "num_updates": int(cast("int", config["num_updates"])),
        }
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _snapshots(run: RunFolder) -> tuple[int, ...]:
    try:
        return tuple(run_folder.snapshots_in(run.snapshots))
    except OSError:  # deleted meanwhile
        return ()


def _state(run: RunFolder) -> State:
    try:
        if run.is_in_training():
            return "training"
        if run.agent.exists():
            return "ended"
        return "stopped" if run.config.exists() else "gone"
    except OSError:  # no permission, or a name that is too long
        return "gone"


def is_name(name: str) -> bool:
    """Return whether a name is that of one folder, not a path to another one."""
    return name not in ("", "..") and Path(name).name == name


def runs_in_training(folder: Path) -> list[JsonObject]:
    """Return the runs that a process trains, the newest last, as JSON."""
    return [
        {"name": run.path.name, **plan}
        for run in run_folder.runs_in(folder)
        if run.is_in_training() and (plan := _plan(run))
    ]


def command_to_train(folder: Path, preset: str) -> str:
    """Return the command that trains a run in a folder of runs, for a shell."""
    command = f"python -m jax_ttt.train --preset {preset} --snapshots"
    if folder == RUNS:
        return command
    names = (f"{preset}-{number}" for number in range(1, 10**6))
    path = next(path for name in names if not (path := folder / name).exists())
    return f"{command} --run-dir {shlex.quote(str(path))}"


async def event_stream(run: RunFolder) -> AsyncIterator[bytes]:
    """Yield server-sent events with a run's news: at once, and after each change."""
    seen, silence = NOTHING, 0.0
    while True:
        before = seen
        seen, news = await asyncio.to_thread(news_since, run, before)
        if seen != before:
            silence = 0.0
            data = json.dumps(dataclasses.asdict(news), allow_nan=False)
            yield f"event: run\ndata: {data}\n\n".encode()
        elif silence > _COMMENT_SECONDS:
            silence = 0.0
            yield b": still here\n\n"  # fails if the reader has gone
        await asyncio.sleep(_LOOK_SECONDS)
        silence += _LOOK_SECONDS
