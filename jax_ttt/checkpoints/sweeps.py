"""A sweep's file: its settings, and a line for each agent that is finished. No JAX.

Each line is a JSON object with the SHA-256 of its other fields. The first describes the
sweep. A line without its end, of a process that was killed, is ignored.
"""

import contextlib
import dataclasses
import errno
import hashlib
import itertools
import json
import os
import time
from pathlib import Path
from typing import TextIO, cast

from jax_ttt.config.errors import UsageError
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import FORMAT_VERSION, READABLE, Config
from jax_ttt.results import plain, reading
from jax_ttt.results.plain import JsonObject
from jax_ttt.results.rows import AgentResult
from jax_ttt.runtime import files

_MOST = 2**30
"""Bytes of the largest file that is read; an agent's line has about a thousand."""


Agents = dict[tuple[int, int], AgentResult]
"""Finished agents, by the index of their combination of settings, and their seed."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """What a sweep trains."""

    config: Config
    preset: Preset
    grid: tuple[str, ...]  # as the flag --grid
    first_seed: int
    num_seeds: int


class SweepFile:
    """The file of a sweep that is running: each finished agent is written at once."""

    def __init__(self, path: Path, file: TextIO, sweep: Sweep, agents: Agents) -> None:
        self.path, self.sweep, self.agents = path, sweep, agents
        self._file = file

    def add(self, group: int, agent: AgentResult) -> None:
        """Add a finished agent; `group` is the index of its combination of settings.

        It is on the disk when the method returns.
        """
        _write(self._file, {"group": group, "agent": plain.to_dict(agent)})
        self.agents[group, agent.seed] = agent

    def rows(self, group: int) -> list[AgentResult]:
        """Return the finished agents of a combination, in the order of their seeds."""
        found = (agent for (g, _), agent in self.agents.items() if g == group)
        return sorted(found, key=lambda agent: agent.seed)

    def missing(self, num_groups: int) -> list[tuple[int, int]]:
        """Return the combination and the seed of each agent that is not finished.

        `num_groups` is the number of combinations.
        """
        begin = self.sweep.first_seed
        seeds = range(begin, begin + self.sweep.num_seeds)
        places = itertools.product(range(num_groups), seeds)
        return [place for place in places if place not in self.agents]

    def close(self) -> None:
        """Close the file; another process may then continue the sweep."""
        self._file.close()


class Unwritten(SweepFile):
    """The agents of a sweep in a process that writes no file, since another does."""

    def __init__(self, sweep: Sweep, path: Path | None = None) -> None:
        """Begin with the agents that a file holds, if the sweep continues."""
        self.path, self.sweep = path or Path(), sweep
        self.agents = {} if path is None else _contents(path)[1]

    def add(self, group: int, agent: AgentResult) -> None:
        """Add a finished agent."""
        self.agents[group, agent.seed] = agent

    def close(self) -> None:
        """Close nothing."""


def new_file(parent: Path, sweep: Sweep) -> SweepFile:
    """Make the file `<time>-sweep-<preset>.jsonl` in `parent`.

    A number is added to the name if there is such a file.

    Raises:
        OSError: it can't be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-sweep-{sweep.preset}"
    for count in range(1, 1000):
        path = parent / f"{name}{f'.{count}' if count > 1 else ''}.jsonl"
        if not path.exists():
            fields: JsonObject = {
                **vars(sweep),
                "format_version": FORMAT_VERSION,
                "config": sweep.config.as_dict(),
            }
            with contextlib.ExitStack() as opened:
                file = opened.enter_context(files.locked(path))
                _write(file, fields)
                opened.pop_all()  # it stays open
                return SweepFile(path, file, sweep, {})
    raise FileExistsError(errno.EEXIST, "too many files of this name", parent / name)


def read_sweep(path: Path) -> Sweep:
    """Return what the sweep of a file trains.

    Raises:
        UsageError: there is no such file, or it is damaged or no sweep's.
    """
    return _contents(path)[0]


def continued(path: Path) -> SweepFile:
    """Open the file of a sweep to continue it.

    Raises:
        UsageError: there is no such file, it is damaged or no sweep's, or another
            process is writing to it.
    """
    read_sweep(path)  # before a file is made by locking it
    try:
        with contextlib.ExitStack() as opened:
            file = opened.enter_context(files.locked(path))
            sweep, agents, size = _contents(path)
            file.truncate(size)
            opened.pop_all()  # it stays open
            return SweepFile(path, file, sweep, agents)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _contents(path: Path) -> tuple[Sweep, Agents, int]:
    """Return the sweep, its finished agents, and the bytes of the whole lines."""
    try:
        with reading.open_bounded(path, _MOST) as file:
            text = file.read()
        size = text.rfind(b"\n") + 1
        if not size:
            raise ValueError("it has no whole line")
        first, *others = map(_checked, text[:size].splitlines())
        agents = [plain.record_from_dict(AgentResult, row["agent"]) for row in others]
        pairs = zip(others, agents, strict=True)
        by_place = {(plain.field(row, "group", int), a.seed): a for row, a in pairs}
        return _sweep(first), by_place, size
    except reading.UnreadableError as error:
        raise UsageError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise UsageError(f"{path}: damaged, or no sweep's file ({reason})") from None


def _sweep(fields: JsonObject) -> Sweep:
    version, preset = fields["format_version"], fields["preset"]
    if version not in READABLE:
        raise ValueError(f"format version {version!r}")
    if preset not in PRESETS:
        raise ValueError(f"preset {preset!r}")
    return Sweep(
        config=Config.of(**plain.field(fields, "config", dict)),
        preset=cast(Preset, preset),
        grid=tuple(plain.field(fields, "grid", list)),
        first_seed=plain.field(fields, "first_seed", int),
        num_seeds=plain.field(fields, "num_seeds", int),
    )


def _write(file: TextIO, fields: JsonObject) -> None:
    """Append a line; it is on the disk when the function returns."""
    try:
        file.write(json.dumps(fields | {"sha256": _digest(fields)}) + "\n")
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise files.WriteError(error.errno, error.strerror, file.name) from error


def _checked(line: bytes) -> JsonObject:
    """Return the fields of a line, whose digest is right."""
    fields = reading.strict_json(line)
    if not isinstance(fields, dict) or fields.pop("sha256", None) != _digest(fields):
        raise ValueError("a line was changed")
    return fields


def _digest(fields: JsonObject) -> str:
    text = json.dumps(fields, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
