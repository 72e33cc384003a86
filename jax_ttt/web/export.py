"""The pages as one file each, without a server, and their data.

Axes: `P` positions, `A` actions, `L` legal moves of all positions.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from jax_ttt.config import catalogue
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.files.run_folder import snapshots_in
from jax_ttt.live import live_run
from jax_ttt.players import agents
from jax_ttt.players.agents import Agent
from jax_ttt.players.shipped import SHIPPED, SNAPSHOTS
from jax_ttt.runtime import files
from jax_ttt.serving import one_file
from jax_ttt.web import agent_data, connect_four_data, tree_data

STATIC = Path(__file__).parent / "static"
"""The page's files."""
MOST_SNAPSHOTS = 16
"""Most snapshots of an agent in the exported page; it takes 90 kB for each."""


@dataclasses.dataclass(frozen=True)
class Exported:
    """An agent of the exported page."""

    agent_id: str
    name: str
    source: str  # "shipped" or "run"
    agent: Agent
    past: Mapping[int, Agent] = dataclasses.field(default_factory=dict)


def write_page(folder: Path, exported: Sequence[Exported] | None = None) -> Path:
    """Write the page to a folder, which is made, and return its file.

    By default it has the agents that come with the package.

    Raises:
        AgentError: an action value of an agent is not finite.
        OSError: the folder can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = page_data(shipped() if exported is None else exported)
    return _write(folder / "index.html", data)


def write_connect_four(folder: Path) -> Path:
    """Write the page of Connect Four to a folder that exists, and return its file.

    Raises:
        AgentError: the page can't compute a shipped agent.
        OSError: the folder can't be written.
    """
    return _write(folder / "connect_four.html", connect_four_data.connect_four_json())


def _write(path: Path, data: JsonObject) -> Path:
    """Write the page of this name with its data, and return its file."""
    files.write_atomic(path, one_file.inlined(STATIC / path.name, data).encode())
    return path


def shipped() -> list[Exported]:
    """Return the agents that come with the package, with their snapshots."""
    found = []
    for name, path in SHIPPED.items():
        agent = agents.load_agent(path)
        past = {
            update: agents.load_agent(snapshot)
            for update, snapshot in snapshots_in(SNAPSHOTS[name]).items()
            if update < agent.num_updates
        }
        found.append(Exported(f"shipped/{name}", name, "shipped", agent, past))
    return found


def page_data(exported: Sequence[Exported]) -> JsonObject:
    """Return everything that the page asks a server for, as JSON data."""
    listed, values, moves, grades = [], {}, {}, {}
    for one in exported:
        versions = {**few_of(one.past), one.agent.num_updates: one.agent}
        for update, agent in sorted(versions.items()):
            found = agent_data.action_values(agent)
            key = f"{one.agent_id}@{update}"
            values[key] = tree_data.encoded(legal_values(found), "<f4")
            moves[key] = agent_data.moves_text(agent)
            grades[key] = agent_data.grade(agent)
        latest = grades[f"{one.agent_id}@{one.agent.num_updates}"]
        listed.append(
            agent_data.agent_json(one.agent_id, one.name, one.source, one.agent)
            | {"unbeatable": live_run.unbeatable_by_side(latest)}
            | {"snapshots": sorted(versions) if len(versions) > 1 else []}
        )
    return {
        "tree": json.loads(tree_data.tree_json(catalogue.DEFAULT)),
        "agents": {"agents": listed, "refused": []},
        "values": values,
        "moves": moves,
        "grades": {key: records.to_dict(grade) for key, grade in grades.items()},
    }


def few_of(past: Mapping[int, Agent]) -> dict[int, Agent]:
    """Return at most `MOST_SNAPSHOTS` of the snapshots, evenly spread."""
    updates = sorted(past)
    count = min(MOST_SNAPSHOTS, len(updates))
    chosen = {updates[i] for i in np.linspace(0, len(updates) - 1, count).astype(int)}
    return {update: past[update] for update in sorted(chosen)}


def legal_values(values: Float[np.ndarray, "P A"]) -> Float[np.ndarray, " L"]:
    """Return the values of the legal moves alone, position by position."""
    return values[~np.isnan(values)]
