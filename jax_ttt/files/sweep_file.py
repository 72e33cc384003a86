"""A sweep's file: its settings, and a line for each finished agent.

The first line describes the sweep. A killed process may leave an incomplete last line,
which is dropped.
"""

import dataclasses
import functools
import itertools
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from jax_ttt.config import settings_grid
from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import Preset
from jax_ttt.config.ranges import check_seeds
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, run_folder
from jax_ttt.files.json_records import Versioned
from jax_ttt.files.metrics_rows import AgentResult
from jax_ttt.files.run_folder import Lock
from jax_ttt.runtime import atomic_files

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

    def __post_init__(self) -> None:
        check_seeds(self.first_seed, self.num_seeds)

    def jobs(self) -> list[tuple[int, int]]:
        """Return the index of the combination and the seed of each agent."""
        grid = settings_grid.read_grid(self.grid, self.config)
        num_groups = math.prod(map(len, grid.values()))
        seeds = range(self.first_seed, self.first_seed + self.num_seeds)
        return [*itertools.product(range(num_groups), seeds)]


class SweepLine(msgspec.Struct, frozen=True, kw_only=True):
    """Another line of a sweep's file: a finished agent."""

    group: int
    """Index of its combination of settings."""
    agent: AgentResult
    """The agent's result."""


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
        lines = [SweepLine(group=group, agent=agent) for group, agent in agents]
        if self._lock is not None:
            texts = map(json_records.to_json, lines)
            atomic_files.append_lines(self.path, texts, to_disk=True)
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

    Raises:
        Refused: it can't be made.
        WriteError: the sweep can't be written to it.
    """
    touch = functools.partial(Path.touch, exist_ok=False)
    path = run_folder.make_new(
        touch if writes else None, f"sweep-{sweep.preset}", ".jsonl"
    )
    if not writes:
        return SweepFile(path, sweep, {}, lock=None)
    file = SweepFile(path, sweep, {}, _lock(path))
    try:
        atomic_files.append_lines(path, [json_records.to_json(sweep)], to_disk=True)
    except atomic_files.WriteError:
        path.unlink()
        file.close()
        raise
    return file


def _lock(path: Path) -> Lock:
    """Lock a sweep's file by a file beside it.

    Raises:
        Refused: another process is writing to it, or it can't be locked.
    """
    with run_folder.refused_errors(str(path)):
        return Lock(path.with_name(f".{path.name}.lock"))


def open_sweep_file(path: Path, *, writes: bool = True) -> SweepFile:
    """Open the file of a sweep to continue it; an incomplete last line is dropped.

    Raises:
        Refused: there is no such file, it is damaged or not a sweep's, or another
            process is writing to it.
    """
    lock = _lock(path) if writes else None
    try:
        # Read under the lock: until then another process may add agents.
        lines = atomic_files.read_lines(path, _MAX_BYTES)
        sweep, agents = _read_lines(lines)
        if writes:
            os.truncate(path, sum(len(line) + 1 for line in lines))
        return SweepFile(path, sweep, agents, lock)
    except BaseException as error:
        if lock is not None:
            lock.close()
        if isinstance(error, atomic_files.UnreadableError):
            raise Refused(f"{path}: {error}") from error
        if isinstance(error, ValueError):
            text = f"{path}: damaged, or not a sweep's file ({error})"
            raise Refused(text) from None
        raise


def _read_lines(lines: Sequence[bytes]) -> tuple[Sweep, Agents]:
    """Return the sweep and its finished agents.

    Raises:
        ValueError: a line is not one of such a file.
    """
    if not lines:
        raise ValueError("it has no whole line")
    sweep = json_records.from_json(Sweep, lines[0])
    read = [json_records.from_json(SweepLine, line) for line in lines[1:]]
    agents = {(line.group, line.agent.seed): line.agent for line in read}
    if foreign := sorted(agents.keys() - set(sweep.jobs())):
        group, seed = foreign[0]
        rule = f"it has no agent of combination {group} with seed {seed}"
        raise ValueError(f"a line is not of this sweep: {rule}")
    return sweep, agents
