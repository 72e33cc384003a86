"""The addresses of the tree and the agents. Paths and answers are in `ANSWERS`."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.serving import static_files
from jax_ttt.serving.replies import Refusal

if TYPE_CHECKING:
    from jax_ttt.web.services import Services


async def tree(services: "Services", request: Request) -> Response:
    """Return the game's tree."""
    return static_files.file_reply(request, services.tree_file)


async def connect_four(services: "Services", request: Request) -> Response:
    """Return the agents of Connect Four, with their weights."""
    file = await services.computed(services.connect_four_file)
    return static_files.file_reply(request, file)


async def agents(services: "Services", request: Request) -> JsonObject:
    """Return all agents, and the files that can't be used."""
    del request
    return await services.computed(services.descriptions.all)


async def values(services: "Services", request: Request) -> JsonObject:
    """Return an agent's action values."""
    return await services.computed(services.descriptions.values, *_asked(request))


async def grade(services: "Services", request: Request) -> JsonObject:
    """Return an agent's grade: by seat whether it can be beaten, and its lines."""
    found = await services.computed(services.descriptions.grade, *_asked(request))
    return records.to_dict(found)


async def history(services: "Services", request: Request) -> JsonObject:
    """Return the evaluations of an agent's training."""
    agent_id, _ = _asked(request)
    rows = await services.computed(services.descriptions.history, agent_id)
    return {"rows": rows}


def _asked(request: Request) -> tuple[str, int | None]:
    """Return the agent's id and the update of a query."""
    query = request.query_params
    pairs = query.multi_items()
    if unknown := sorted({name for name, _ in pairs} - {"agent", "update"}):
        raise Refusal(400, f"unknown parameter {unknown[0][:40]!r}")
    if len(pairs) > len(query) or "agent" not in query:
        raise Refusal(400, "one agent is needed, and at most one update")
    text = query.get("update")
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refusal(400, "update must be a whole number")
    return query["agent"], None if text is None else int(text)


ANSWERS = {
    ("GET", "/api/tree"): tree,
    ("GET", "/api/connect_four"): connect_four,
    ("GET", "/api/agents"): agents,
    ("GET", "/api/values"): values,
    ("GET", "/api/grade"): grade,
    ("GET", "/api/history"): history,
}
