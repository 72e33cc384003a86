"""Agents in files: of the package and of runs.

The page itself reads the files and computes with them, so nothing here needs JAX.
"""

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from jax_ttt.config import player_kinds
from jax_ttt.config.errors import AgentError
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records, run_folder, tensor_file
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.files.tensor_file import AgentDescription
from jax_ttt.runtime import atomic_files
from jax_ttt.web import followed_runs

Source = Literal["shipped", "run"]
MAX_AGENT_BYTES = 16 * 2**20
"""Largest file that is sent to the page."""


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

    def __init__(self, runs: Path) -> None:
        """Use the runs in the folder `runs`."""
        self.runs = runs

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
        """Return the evaluations of an agent's training: see `history_of`.

        Raises:
            KeyError: there is no such agent.
            AgentError: a snapshot is damaged.
        """
        return history_of(self._find(agent_id))

    def _find(self, agent_id: str) -> ListedAgent:
        """Return one agent; only its own files are looked at.

        Raises:
            KeyError: there is no such agent.
        """
        source, _, name = agent_id.partition("/")
        agent = None
        if source == "shipped" and name in player_kinds.ALL:
            agent = _shipped_agent(name)
        elif source == "run" and followed_runs.is_name(name):
            agent = _run_agent(RunFolder(self.runs / name))
        if agent is None:
            raise KeyError(agent_id)
        return agent

    def _all_agents(self) -> Iterator[ListedAgent]:
        yield from shipped_agents()
        for run in run_folder.runs_in(self.runs):
            if (agent := _run_agent(run)) is not None:
                yield agent


def _run_agent(run: RunFolder) -> ListedAgent | None:
    """Return a run's agent, in training its newest snapshot; None if there is none."""
    name = run.path.name
    snapshots = run_folder.snapshots_in(run.snapshots)
    path = run.agent
    if snapshots and (run.is_in_training() or not path.exists()):
        path = [*snapshots.values()][-1]
    if not path.exists():
        return None
    return ListedAgent(f"run/{name}", name, "run", path, snapshots, run)


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


def history_of(agent: ListedAgent) -> list[JsonObject]:
    """Return the evaluations of an agent's training, the oldest first.

    They are a run's metrics, or else what the files of the snapshots say.

    Raises:
        AgentError: a snapshot is damaged.
    """
    if agent.run is not None:
        return followed_runs.news_since(agent.run, followed_runs.NOTHING)[1].rows
    grades = {
        update: read_without_weights(path).grade
        for update, path in agent.snapshots.items()
    }
    return [
        {"update": update, "grade": json_records.to_dict(grade)}
        for update, grade in grades.items()
        if grade.first is not None or grade.second is not None
    ]
