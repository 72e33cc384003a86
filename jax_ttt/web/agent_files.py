"""The agents in files: of the package, of runs, and kept when a server ended.

Imports no JAX: the page itself reads the files.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import Config
from jax_ttt.files import agent_file, records, run_folder
from jax_ttt.files.agent_file import AgentFile
from jax_ttt.files.records import JsonObject
from jax_ttt.files.rows import Chunk
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.files.tensor_file import AgentError
from jax_ttt.grading.grade import Grade
from jax_ttt.players import shipped
from jax_ttt.runtime import files

Source = Literal["shipped", "run", "kept"]
MOST_AGENT_BYTES = 16 * 2**20
"""The largest file that is offered; the largest shipped agent has 0.8 MB."""


class Listed(NamedTuple):
    """A file of an agent, and where the rest of its training is."""

    id: str
    name: str
    source: Source
    path: Path
    snapshots: Mapping[int, Path]
    run: RunFolder | None = None


class AgentFiles:
    """The agents in files, which are looked up anew for each request."""

    def __init__(self, runs: Path, data: Path | None = None) -> None:
        """Look for runs below `runs`; agents are kept in the user's folder `data`."""
        self._runs = runs
        self._kept = None if data is None else data / "agents"

    def as_json(self) -> tuple[list[JsonObject], list[JsonObject]]:
        """Return the agents, and the files that can't be used with the reasons."""
        agents: list[JsonObject] = []
        refused: list[JsonObject] = []
        for listed in self._listed():
            try:
                agents.append(agent_entry(listed))
            except AgentError as error:
                refused.append({"name": listed.name, "reason": str(error)[:300]})
        return agents, refused

    def content(self, agent_id: str, update: int | None = None) -> bytes:
        """Return the file of an agent, or of its snapshot after so many updates.

        Raises:
            KeyError: there is no such agent.
            ValueError: the file can't be read.
        """
        listed = self._find(agent_id)
        path = listed.path
        if update is not None and update != loaded(path).num_updates:
            path = listed.snapshots[update]
        loaded(path)  # nothing else is sent
        return files.read_bounded(path, MOST_AGENT_BYTES)

    def history(self, agent_id: str) -> list[JsonObject]:
        """Return the evaluations of a run, the oldest first; none of other agents.

        Raises:
            KeyError: there is no such agent.
        """
        run = self._find(agent_id).run
        return [] if run is None else _history_of_run(run)

    def keep(self, name: str, content: bytes) -> Path | None:
        """Write an agent's file to the user's folder, and return its path.

        No file is replaced, not even by another server at the same time: a name that
        another file has gets a number. Without a folder nothing is kept.

        Raises:
            OSError: the file can't be written.
        """
        if self._kept is None:
            return None
        self._kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = _new_file(self._kept, name)
        try:
            files.write_atomic(path, content)
        except OSError:
            path.unlink()
            raise
        return path

    def remove(self, agent_id: str) -> None:
        """Delete an agent that was kept.

        Raises:
            KeyError: there is no such agent, or it is not one that was kept.
            OSError: the file can't be deleted.
        """
        listed = self._find(agent_id)
        if listed.source != "kept":
            raise KeyError(agent_id)
        listed.path.unlink(missing_ok=True)

    def _find(self, agent_id: str) -> Listed:
        return {listed.id: listed for listed in self._listed()}[agent_id]

    def _listed(self) -> Iterator[Listed]:
        yield from shipped_agents()
        for run in run_folder.runs_in(self._runs):
            if run.agent.exists():  # a run that trains has none yet
                name = run.path.name
                snapshots = run_folder.snapshots_in(run.snapshots)
                yield Listed(f"run/{name}", name, "run", run.agent, snapshots, run)
        if self._kept is not None:
            for path in sorted(self._kept.glob("*.safetensors")):
                yield Listed(f"kept/{path.stem}", path.stem, "kept", path, {})


def _new_file(folder: Path, name: str) -> Path:
    """Make an empty file of a name that no file has."""
    for number in itertools.count(1):
        end = "" if number == 1 else f"-{number}"
        path = folder / f"{name}{end}.safetensors"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise AssertionError  # the numbers do not end


def shipped_agents() -> list[Listed]:
    """Return the agents that come with the package."""
    folders = shipped.SNAPSHOTS
    return [
        Listed(
            id=f"shipped/{name}",
            name=name,
            source="shipped",
            path=path,
            snapshots=run_folder.snapshots_in(folders[name]) if name in folders else {},
        )
        for name, path in shipped.ALL.items()
    ]


def agent_entry(listed: Listed) -> JsonObject:
    """Return what the list of agents says about one.

    Its `stamp` is another one once the file is replaced.

    Raises:
        AgentError: the file is damaged or too large, or of a game that the page has
            no rules of.
    """
    agent = loaded(listed.path)
    env_id = agent.config.env_id
    if GAMES[env_id].packing is None:
        raise AgentError(f"{listed.path.name}: the page has no rules of {env_id}")
    return {
        "id": listed.id,
        "name": listed.name,
        "source": listed.source,
        "env_id": env_id,
        "kind": kind_of(agent.config),
        "updates": agent.num_updates,
        "stamp": "-".join(map(str, _stamp(listed.path))),
        "snapshots": [*listed.snapshots],
    }


def kind_of(config: Config) -> Literal["network", "table"]:
    """Return what the page calls an agent's kind."""
    return "table" if config.network.is_table else "network"


def loaded(path: Path) -> AgentFile:
    """Return a file's agent without its weights; it is read again only after a change.

    Raises:
        AgentError: the file is damaged or too large.
    """
    stamp = _stamp(path)
    if stamp.size > MOST_AGENT_BYTES:
        raise AgentError(f"{path.name}: larger than {MOST_AGENT_BYTES:,} bytes")
    try:
        return _read(path, stamp)
    except AgentError as error:
        raise AgentError(str(error).replace(str(path), path.name)) from None


class _Stamp(NamedTuple):
    """Of the version of a file."""

    time: int  # ns
    size: int  # bytes


def _stamp(path: Path) -> _Stamp:
    try:
        status = path.stat()
    except OSError as error:
        raise AgentError(f"{path.name}: {error.strerror}") from None
    return _Stamp(status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=1000)
def _read(path: Path, stamp: _Stamp) -> AgentFile:
    del stamp  # of the key
    agent = agent_file.read_agent(path)  # with its weights, which are checked
    agent.tensors.clear()
    return agent


def history_row(
    update: int,
    grade: Grade,
    *,
    games: int | None = None,
    loss: float | None = None,
    seconds: float | None = None,
) -> JsonObject:
    """Return an evaluation of a training as JSON data; what is unknown is None.

    `games` are those of training so far, `loss` is that of the last chunk of updates,
    `seconds` were spent training.
    """
    return {
        "update": update,
        "games": games,
        "loss": loss,
        "seconds": seconds,
        "grade": records.to_dict(grade),
    }


def _history_of_run(run: RunFolder) -> list[JsonObject]:
    """Return the evaluations in a run's metrics; none if they can't be read."""
    try:
        rows = run.rows()
    except ValueError:
        return []
    history: dict[int, JsonObject] = {}
    loss = None
    for row in rows:
        if isinstance(row, Chunk):
            loss = row.loss
            continue
        # A search at the end of a run adds a row with the same update.
        history[row.update] = history_row(
            row.update, row.grade, games=row.games, loss=loss, seconds=row.seconds
        )
    return [*history.values()]
