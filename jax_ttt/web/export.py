"""The page as one file, without a server: the agents' files are inside.

Imports no JAX.
"""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from jax_ttt.files.records import JsonObject
from jax_ttt.runtime import files
from jax_ttt.web import agents, one_file
from jax_ttt.web.agents import Listed

STATIC = Path(__file__).parent / "static"
"""The page's files."""


def write_page(folder: Path, listed: Sequence[Listed] | None = None) -> Path:
    """Write the page to a folder, which is made, and return its file.

    By default it has the agents that come with the package.

    Raises:
        AgentError: the page can't use an agent.
        OSError: the folder can't be written.
    """
    data = page_data(agents.shipped_agents() if listed is None else listed)
    path = folder / "index.html"
    folder.mkdir(parents=True, exist_ok=True)
    files.write_atomic(path, one_file.inlined(STATIC, data).encode())
    return path


def page_data(listed: Sequence[Listed]) -> JsonObject:
    """Return everything that the page asks a server for, as JSON data.

    Raises:
        AgentError: the page can't use an agent.
    """
    contents = {}
    for agent in listed:
        latest = agents.loaded(agent.path).num_updates
        for update, path in {**agent.snapshots, latest: agent.path}.items():
            content = files.read_bounded(path, agents.MOST_BYTES)
            contents[f"{agent.id}@{update}"] = base64.b64encode(content).decode()
    return {
        "agents": [agents.described(agent) for agent in listed],
        "files": contents,
        "tree": json.loads((STATIC / "tic_tac_toe.json").read_text("utf-8")),
    }
