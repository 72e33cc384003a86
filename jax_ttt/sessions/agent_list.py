"""The agents that the page offers: shipped, of runs, imported, in training.

Everything here may take a moment, so it runs in a thread of its own, never while a
request holds the server.
"""

import dataclasses
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from jax_ttt.config import catalogue
from jax_ttt.config.errors import UsageError
from jax_ttt.files import run_folder
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.players import agents
from jax_ttt.players.agents import Agent, AgentError
from jax_ttt.players.shipped import SHIPPED, SNAPSHOTS
from jax_ttt.runtime import files
from jax_ttt.serving.replies import Refusal

Source = Literal["shipped", "run", "live", "imported"]
MOST_BYTES = 16 * 2**20
"""The largest file that is read; an agent of a page's game has about 0.1 MB."""
Stamp = tuple[int, int, int]
"""A file's time of change, size and number, to see whether it was replaced."""
IMPORTED = "agents"
"""The folder of imported agents in the data folder."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """An agent's file that was read and checked."""

    id: str
    name: str
    source: Source
    path: Path
    stamp: Stamp
    agent: Agent
    preset: str | None = None


class AgentList:
    """The agents in files.

    An agent that was read once stays until the server ends, also if its file is
    deleted, or replaced by one that can't be read.
    """

    def __init__(self, runs: Path, data: Path | None) -> None:
        self.runs = runs
        self.imported = None if data is None else data / IMPORTED
        self._known: dict[str, Entry] = {}
        self._refused: dict[str, tuple[Stamp, str]] = {}

    def scan(self) -> tuple[list[Entry], list[dict[str, str]]]:
        """Return the agents, and the files that can't be used, each with the reason."""
        refused = []
        for agent_id, source, name, path in self._files():
            reason = self._read(agent_id, source, name, path)
            if reason:
                refused.append({"name": name, "reason": reason})
        return list(self._known.values()), refused

    def find(self, agent_id: str) -> Entry:
        """Return an agent; new files are looked for if it is not known.

        Raises:
            Refusal: there is no such agent.
        """
        if agent_id not in self._known:
            self.scan()
        try:
            return self._known[agent_id]
        except KeyError:
            raise Refusal(404, "no such agent") from None

    def updates(self, entry: Entry) -> tuple[int, ...]:
        """Return the updates of a training's snapshots, ascending."""
        return tuple(_snapshots_of(entry))

    def snapshot(self, entry: Entry, update: int) -> Agent | None:
        """Return the agent of a training after this many updates, if it can be read."""
        path = _snapshots_of(entry).get(update)
        try:
            return None if path is None else read_agent(path)
        except (AgentError, OSError):
            return None

    def add(self, name: str, contents: bytes) -> str | None:
        """Keep an imported agent; return its id, None if there is no data folder.

        Raises:
            OSError: the file can't be written.
        """
        if self.imported is None:
            return None
        self.imported.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest = hashlib.sha256(contents).hexdigest()[:12]
        for path in self.imported.glob(f"*-{digest}.safetensors"):
            return f"imported/{path.stem}"
        plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name).strip(". ")[:60] or "agent"
        path = self.imported / f"{plain}-{digest}.safetensors"
        files.write_atomic(path, contents)
        return f"imported/{path.stem}"

    def _files(self) -> Iterator[tuple[str, Source, str, Path]]:
        for name, path in SHIPPED.items():
            yield f"shipped/{name}", "shipped", name, path
        for run in run_folder.runs_in(self.runs):
            if run.agent.exists():  # a run that trains has none yet
                yield f"run/{run.path.name}", "run", run.path.name, run.agent
        if self.imported is not None:
            for path in sorted(self.imported.glob("*.safetensors")):
                name = path.stem.rpartition("-")[0]
                yield f"imported/{path.stem}", "imported", name, path

    def _read(self, agent_id: str, source: Source, name: str, path: Path) -> str:
        """Read a file if it is new; return why it can't be used, or nothing."""
        stamp = _stamp(path)
        known = self._known.get(agent_id)
        if known is not None and stamp in (None, known.stamp):
            return ""
        if stamp is None:
            return f"{path.name}: no such file"
        if agent_id in self._refused and self._refused[agent_id][0] == stamp:
            return self._refused[agent_id][1]
        try:
            agent = read_agent(path)
        except (AgentError, OSError, MemoryError) as error:
            reason = str(error).replace(str(path), path.name).splitlines()[0][:300]
            self._refused[agent_id] = (stamp, reason)
            return reason
        preset = _preset(RunFolder(path.parent)) if source == "run" else None
        self._known[agent_id] = Entry(
            agent_id, name, source, path, stamp, agent, preset
        )
        return ""


def read_agent(path: Path) -> Agent:
    """Return the agent of a file, which must be of the page's game.

    Raises:
        AgentError: the file is no such agent, or too large.
    """
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise AgentError(f"{path}: larger than {MOST_BYTES:,} bytes")
    return agents.load_agent(path, catalogue.DEFAULT)


def _snapshots_of(entry: Entry) -> dict[int, Path]:
    """Return the snapshots of an agent's training, by their updates."""
    if entry.source == "imported":
        return {}
    if entry.source == "shipped":
        return run_folder.snapshots_in(SNAPSHOTS[entry.name])
    return run_folder.snapshots_in(RunFolder(entry.path.parent).snapshots)


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _preset(run: RunFolder) -> str | None:
    try:
        return run.settings().preset
    except UsageError:
        return None
