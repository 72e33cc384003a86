"""A sweep's file: its settings, and a line for each finished agent.

The first line describes the sweep. Each line ends with its checksum, since a digit that
was lost would be another result. A killed process may leave an incomplete last line,
which is dropped.
"""

import contextlib
import dataclasses
import errno
import itertools
import json
import math
import os
import re
import time
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from jax_ttt.config import settings_grid
from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import Preset
from jax_ttt.config.ranges import check_seeds
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.json_records import Versioned
from jax_ttt.files.metrics_rows import AgentResult
from jax_ttt.files.run_folder import RUNS, Lock
from jax_ttt.runtime import atomic_files
from jax_ttt.runtime.atomic_files import WriteError

_MAX_BYTES = 2**30
"""Bytes of the largest file that is read; an agent's line has about 1,000."""
Agents = dict[tuple[int, int], AgentResult]
"""Finished agents, by the index of their combination of settings, and their seed."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sweep(Versioned):
    """The first line of a sweep's file: what it trains."""

    config: Config
    """The settings."""
    preset: Preset
    """The preset that the settings started from."""
    grid: tuple[str, ...]
    """The words of the flag `--grid`."""
    first_seed: int
    """The first seed; the others follow it."""
    num_seeds: Annotated[int, msgspec.Meta(ge=1)]
    """Agents of each combination of settings."""
    files: dict[str, str] | None = None
    """The SHA-256 of the files of the saved agents that the settings name, by their
    names; absent without any."""
    crc32: int = dataclasses.field(default=0, compare=False)
    """Checksum of the line's JSON without this field."""

    def __post_init__(self) -> None:
        check_seeds(self.first_seed, self.num_seeds)

    def jobs(self) -> list[tuple[int, int]]:
        """Return the index of the combination and the seed of each agent."""
        grid = settings_grid.read_grid(self.grid)
        num_groups = math.prod(map(len, grid.values()))
        seeds = range(self.first_seed, self.first_seed + self.num_seeds)
        return [*itertools.product(range(num_groups), seeds)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepLine:
    """Another line of a sweep's file: a finished agent."""

    group: int
    """Index of its combination of settings."""
    agent: AgentResult
    """The agent's result."""
    crc32: int = 0
    """Checksum of the line's JSON without this field."""


class SweepFile:
    """The file of a running sweep, to which finished agents are added.

    If several processes train one sweep, only one of them locks the file and writes.
    """

    def __init__(
        self, path: Path, sweep: Sweep, agents: Agents, lock: Lock | None
    ) -> None:
        """Take over the lock of the file; None in a process that does not write."""
        self.path, self.sweep, self.agents = path, sweep, agents
        self._lock = lock

    def add(self, agents: Sequence[tuple[int, AgentResult]]) -> None:
        """Add finished agents, each with the index of its combination of settings.

        They are on the disk when the method returns. They are written together, so that
        a large block takes little longer than one agent.
        """
        if self._lock is not None:
            lines = [SweepLine(group=group, agent=agent) for group, agent in agents]
            _append_lines(self.path, lines)
        self.agents |= {(group, agent.seed): agent for group, agent in agents}

    def rows(self, group: int) -> list[AgentResult]:
        """Return the finished agents of a combination, in the order of their seeds."""
        agents = [agent for job, agent in self.agents.items() if job[0] == group]
        return sorted(agents, key=lambda agent: agent.seed)

    def missing(self) -> list[tuple[int, int]]:
        """Return the combination and the seed of each agent that is not finished."""
        return [job for job in self.sweep.jobs() if job not in self.agents]

    def close(self) -> None:
        """Unlock the file; another process may then continue the sweep."""
        if self._lock is not None:
            self._lock.close()


def make_sweep_file(sweep: Sweep, *, writes: bool = True) -> SweepFile:
    """Make the file `<time>-sweep-<preset>.jsonl` in `runs`.

    A number is added to the name if there is such a file.

    Raises:
        OSError: it can't be made.
    """
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-sweep-{sweep.preset}"
    if not writes:
        return SweepFile(RUNS / f"{name}.jsonl", sweep, {}, lock=None)
    RUNS.mkdir(parents=True, exist_ok=True)
    path = _make_empty_file(name)
    file = SweepFile(path, sweep, {}, _lock(path))
    try:
        _append_lines(path, [sweep])
    except OSError:
        file.close()
        raise
    return file


def _lock(path: Path) -> Lock:
    """Lock a sweep's file by a file beside it.

    Raises:
        InUseError: another process is writing to it.
        OSError: it can't be locked.
    """
    return Lock(path.with_name(f".{path.name}.lock"))


def _make_empty_file(name: str) -> Path:
    """Make an empty file of this name in `runs`; return its path."""
    for count in range(1, 1000):
        path = RUNS / (f"{name}.jsonl" if count == 1 else f"{name}.{count}.jsonl")
        with contextlib.suppress(FileExistsError):
            path.touch(exist_ok=False)
            return path
    raise FileExistsError(errno.EEXIST, "too many files of this name", RUNS / name)


def read_sweep(path: Path) -> Sweep:
    """Return the sweep of a file.

    Raises:
        Refused: there is no such file, or it is damaged or not a sweep's.
    """
    return _read_contents(path)[0]


def open_sweep_file(path: Path, *, writes: bool = True) -> SweepFile:
    """Open the file of a sweep to continue it; an incomplete last line is dropped.

    Raises:
        Refused: there is no such file, it is damaged or not a sweep's, or another
            process is writing to it.
    """
    if not writes:
        sweep, agents, _ = _read_contents(path)
        return SweepFile(path, sweep, agents, lock=None)
    try:
        lock = _lock(path)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from None
    try:
        # Read under the lock: until then another process may add agents.
        sweep, agents, num_bytes = _read_contents(path)
        os.truncate(path, num_bytes)
    except BaseException:
        lock.close()
        raise
    return SweepFile(path, sweep, agents, lock)


def _read_contents(path: Path) -> tuple[Sweep, Agents, int]:
    """Return the sweep, its finished agents, and the bytes of the whole lines."""
    try:
        text = atomic_files.read_bounded(path, _MAX_BYTES)
        whole = text[: text.rfind(b"\n") + 1]
        if not whole:
            raise ValueError("it has no whole line")
        head = json_records.from_json(dict[str, object], whole.splitlines()[0])
        json_records.check_version(head)  # a line of another one has another checksum
        first, *others = map(_checked, whole.splitlines())
        sweep = json_records.from_json(Sweep, first)
        lines = [json_records.from_json(SweepLine, line) for line in others]
        agents = {(line.group, line.agent.seed): line.agent for line in lines}
        if foreign := sorted(agents.keys() - set(sweep.jobs())):
            group, seed = foreign[0]
            rule = f"it has no agent of combination {group} with seed {seed}"
            raise ValueError(f"a line is not of this sweep: {rule}")
        return sweep, agents, len(whole)
    except atomic_files.UnreadableError as error:
        raise Refused(f"{path}: {error}") from error
    except ValueError as error:
        raise Refused(f"{path}: damaged, or not a sweep's file ({error})") from None


def _line_text(line: Sweep | SweepLine) -> str:
    """Return a line's JSON; the last field is the CRC-32 of the JSON without it."""
    fields = json_records.to_dict(line)
    del fields["crc32"]
    text = json.dumps(fields, allow_nan=False)
    return json.dumps(fields | {"crc32": zlib.crc32(text.encode())})


def _checked(line: bytes) -> bytes:
    """Return a line's JSON without its checksum.

    Raises:
        ValueError: the checksum is missing, or the line was changed.
    """
    match = re.fullmatch(rb'(\{.*), "crc32": (\d+)\}', line)
    if match is None:
        raise ValueError("a line has no checksum")
    text = match[1] + b"}"
    if int(match[2]) != zlib.crc32(text):
        raise ValueError("a line was changed after it was written")
    return text


def _append_lines(path: Path, lines: Iterable[Sweep | SweepLine]) -> None:
    """Append lines with checksums; on return they are on the disk."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{_line_text(line)}\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise WriteError(error.errno, error.strerror, str(path)) from error
