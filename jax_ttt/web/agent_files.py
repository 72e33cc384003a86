"""Agents in files: of the package, of runs, and of earlier trainings of the server.

The page itself reads the files and computes with them, so nothing here needs JAX.
"""

import contextlib
import functools
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from jax_ttt.config import player_kinds
from jax_ttt.config.errors import AgentError
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, run_folder, tensor_file
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.metrics_rows import Evaluated, Trained
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.files.tensor_file import AgentDescription
from jax_ttt.runtime import atomic_files

Source = Literal["shipped", "run", "kept"]
MAX_AGENT_BYTES = 16 * 2**20
"""Largest file that is sent to the page."""
MAX_KEPT = 20
"""Maximum number of agents of ended servers in the user's folder; the oldest ones are
deleted."""


class ListedAgent(NamedTuple):
    """An agent's file, its snapshots by update, and its run if it has one."""

    id: str
    name: str
    source: Source
    path: Path
    snapshots: Mapping[int, Path]
    run: RunFolder | None = None


class AgentCollection:
    """The agents in files; each call looks again, since runs come and go."""

    def __init__(self, runs: Path, data: Path | None = None) -> None:
        """Use the runs in the folder `runs`, and keep agents in the folder `data`."""
        self._runs = runs
        self._kept_folder = None if data is None else data / "agents"

    def list_agents(self) -> tuple[list[JsonObject], list[JsonObject]]:
        """Return the usable agents, and the refused files with the reasons, as JSON."""
        agents: list[JsonObject] = []
        refused: list[JsonObject] = []
        for agent in self._all_agents():
            try:
                agents.append(agent_entry(agent))
            except AgentError as error:
                refused.append({"name": agent.name, "reason": str(error)[:300]})
        return agents, refused

    def content(self, agent_id: str, update: int | None = None) -> bytes:
        """Return the file of an agent, or of its snapshot after so many updates.

        Raises:
            KeyError: there is no such agent.
            ValueError: the file can't be read.
        """
        agent = self._find(agent_id)
        path = agent.path
        if update is not None and update != read_without_weights(path).num_updates:
            path = agent.snapshots[update]
        read_without_weights(path)  # nothing else is sent
        return atomic_files.read_bounded(path, MAX_AGENT_BYTES)

    def history(self, agent_id: str) -> list[JsonObject]:
        """Return the evaluations of a run, the oldest first; none of other agents.

        Raises:
            KeyError: there is no such agent.
        """
        run = self._find(agent_id).run
        return [] if run is None else _run_history(run)

    def keep(self, name: str, content: bytes) -> Path | None:
        """Write an agent's file to the user's folder, and return its path.

        No file is replaced, not even one that another server writes at the same time:
        a name that another file has gets a number. Of all kept agents, the newest
        `MAX_KEPT` stay. Without a folder, return None.

        Raises:
            OSError: the file can't be written.
        """
        if self._kept_folder is None:
            return None
        self._kept_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = _make_empty_file(self._kept_folder, name)
        try:
            atomic_files.write_atomic(path, content)
        except OSError:
            path.unlink()
            raise
        self._remove_oldest()
        return path

    def _remove_oldest(self) -> None:
        times: dict[Path, int] = {}
        for path in self._kept_files():
            with contextlib.suppress(OSError):  # another server has deleted it
                times[path] = path.stat().st_mtime_ns
        for path in sorted(times, key=times.__getitem__)[:-MAX_KEPT]:
            with contextlib.suppress(OSError):
                path.unlink()

    def remove(self, agent_id: str) -> None:
        """Delete a kept agent.

        Raises:
            KeyError: there is no such agent, or it is not a kept one.
            OSError: the file can't be deleted.
        """
        agent = self._find(agent_id)
        if agent.source != "kept":
            raise KeyError(agent_id)
        agent.path.unlink(missing_ok=True)

    def _find(self, agent_id: str) -> ListedAgent:
        """Return one agent; only its own files are looked at.

        Raises:
            KeyError: there is no such agent.
        """
        source, _, name = agent_id.partition("/")
        agent = None
        if source == "shipped" and name in player_kinds.ALL:
            agent = _shipped_agent(name)
        elif _is_file_name(name) and source == "run":
            agent = _run_agent(RunFolder(self._runs / name))
        elif _is_file_name(name) and source == "kept" and self._kept_folder is not None:
            path = self._kept_folder / f"{name}.safetensors"
            agent = _kept_agent(path) if path.exists() else None
        if agent is None:
            raise KeyError(agent_id)
        return agent

    def _all_agents(self) -> Iterator[ListedAgent]:
        yield from shipped_agents()
        for run in run_folder.runs_in(self._runs):
            if (agent := _run_agent(run)) is not None:
                yield agent
        for path in self._kept_files():
            yield _kept_agent(path)

    def _kept_files(self) -> list[Path]:
        if self._kept_folder is None:
            return []
        return sorted(self._kept_folder.glob("*.safetensors"))


def _is_file_name(name: str) -> bool:
    """Return whether a name is that of one file, not a path to another folder."""
    return name not in ("", "..") and Path(name).name == name


def _run_agent(run: RunFolder) -> ListedAgent | None:
    """Return a run's agent; None for a run in training, which has none yet."""
    if not run.agent.exists():
        return None
    name = run.path.name
    snapshots = run_folder.snapshots_in(run.snapshots)
    return ListedAgent(f"run/{name}", name, "run", run.agent, snapshots, run)


def _kept_agent(path: Path) -> ListedAgent:
    return ListedAgent(f"kept/{path.stem}", path.stem, "kept", path, {})


def _make_empty_file(folder: Path, name: str) -> Path:
    """Make an empty file with this name, or with a number after it; return its path.

    The file reserves its name: two servers that make it at once get different ones.
    """
    for number in itertools.count(1):
        end = "" if number == 1 else f"-{number}"
        path = folder / f"{name}{end}.safetensors"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise AssertionError  # the numbers do not end


def shipped_agents() -> list[ListedAgent]:
    """Return the agents that come with the package."""
    return [_shipped_agent(name) for name in player_kinds.ALL]


def _shipped_agent(name: str) -> ListedAgent:
    folder = player_kinds.SNAPSHOTS.get(name)
    snapshots = {} if folder is None else run_folder.snapshots_in(folder)
    return ListedAgent(
        f"shipped/{name}", name, "shipped", player_kinds.ALL[name], snapshots
    )


def agent_entry(agent: ListedAgent) -> JsonObject:
    """Return an agent as an entry of the list, as JSON.

    Its `stamp` changes when the file does, so the page knows when to load it again.

    Raises:
        AgentError: the file is damaged or too large, or the page lacks the rules of
            its game.
    """
    description = read_without_weights(agent.path)
    env_id = description.config.env_id
    if GAMES[env_id].packing is None or GAMES[env_id].user_env is not None:
        raise AgentError(f"{agent.path.name}: the page has no rules of {env_id}")
    return {
        "id": agent.id,
        "name": agent.name,
        "source": agent.source,
        "env_id": env_id,
        "kind": agent_kind(description.config),
        "updates": description.num_updates,
        "stamp": "-".join(map(str, _file_stamp(agent.path))),
        "snapshots": [*agent.snapshots],
    }


def agent_kind(config: Config) -> Literal["network", "table"]:
    """Return the page's name for the kind of an agent."""
    return "table" if config.is_table else "network"


def read_without_weights(path: Path) -> AgentDescription:
    """Return a file's agent without its weights; a file is read once, until it changes.

    Raises:
        AgentError: the file is damaged or too large.
    """
    stamp = _, size = _file_stamp(path)
    if size > MAX_AGENT_BYTES:
        raise AgentError(f"{path.name}: larger than {MAX_AGENT_BYTES:,} bytes")
    try:
        return _read_cached(path, stamp)
    except AgentError as error:
        raise AgentError(str(error).replace(str(path), path.name)) from None


def _file_stamp(path: Path) -> tuple[int, int]:
    """Return what changes when a file is replaced: its time in ns, its bytes."""
    try:
        status = path.stat()
    except OSError as error:
        raise AgentError(f"{path.name}: {error.strerror}") from None
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=1000)
def _read_cached(path: Path, stamp: tuple[int, int]) -> AgentDescription:
    del stamp  # part of the cache's key: a changed file is read again
    description, tensors = tensor_file.read_tensors(path, AgentDescription)
    tensor_file.take_corrections(path, tensors)
    return description


def history_row(row: Evaluated, grade: Grade, loss: float | None) -> JsonObject:
    """Return an evaluation of a training as JSON, with a grade that may say more.

    `loss` is the loss of the last row of updates; None before the first one.
    """
    return {
        "update": row.update,
        "games": row.games,
        "loss": loss,
        "seconds": row.seconds,
        "grade": json_records.to_dict(grade),
    }


def _run_history(run: RunFolder) -> list[JsonObject]:
    """Return the evaluations in a run's metrics; none if the file is damaged."""
    try:
        rows = run.rows()
    except ValueError:
        return []
    history: dict[int, JsonObject] = {}
    loss = None
    for row in rows:
        if isinstance(row, Trained):
            loss = row.loss
            continue
        # An update may be evaluated again after a person's game: the later row counts.
        history[row.update] = history_row(row, row.grade, loss)
    return [*history.values()]
