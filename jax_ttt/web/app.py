"""The server's addresses: the page, the agents' files, live training. Imports no JAX.

Each refusal is a status and `{"error": REASON}`.
"""

import asyncio
import mimetypes
import sys
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from jax_ttt.config.errors import Refused, SettingError, UsageError
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.web.agents import AgentFiles
from jax_ttt.web.security import SecurityMiddleware
from jax_ttt.web.training import LIVE, Training

STATIC = Path(__file__).parent / "static"
"""The page's files."""
MOST_BODY_BYTES = 64 * 2**10
MOST_MOVES = 100
"""Most moves of a game that is sent to be learned from."""
_COMMENT_SECONDS = 15.0
_PAUSE_SECONDS = 0.05
"""Between two messages of a stream: what changes meanwhile is in the second one."""

# Of the registry of Windows a script may get another type, which `nosniff` forbids.
mimetypes.add_type("text/javascript", ".js")


def make_app(files: AgentFiles, training: Training, hosts: Sequence[str]) -> Starlette:
    """Return the application; `hosts` are its names in the header Host, without ports.

    When it ends, the agent in training is kept.
    """

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    def agents(request: Request) -> Response:
        entries, refused = files.as_json()
        live = training.as_agent()
        listed = entries if live is None else [*entries, live]
        return JSONResponse({"agents": listed, "refused": refused})

    def agent_file(request: Request) -> Response:
        agent_id, update = _agent_of(request)
        try:
            if agent_id == LIVE:
                content = training.content(update)
            else:
                content = files.content(agent_id, update)
        except KeyError:
            raise HTTPException(404, "no such agent") from None
        except ValueError as error:
            raise HTTPException(404, str(error)) from None
        return Response(content, media_type="application/octet-stream")

    def history(request: Request) -> Response:
        agent_id, _ = _agent_of(request)
        try:
            rows = training.rows() if agent_id == LIVE else files.history(agent_id)
        except KeyError:
            raise HTTPException(404, "no such agent") from None
        return JSONResponse({"rows": rows})

    def remove(request: Request) -> Response:
        agent_id, _ = _agent_of(request)
        try:
            files.remove(agent_id)
        except KeyError:
            raise HTTPException(404, "no such agent, or not one to remove") from None
        return JSONResponse({"removed": agent_id})

    async def status(request: Request) -> Response:
        return JSONResponse(training.full_status())

    async def command(request: Request) -> Response:
        body = await _body(request, {"command": str, "learner": str}, {"command"})
        training.command(body["command"], body.get("learner"))
        return JSONResponse(training.full_status())

    async def change(request: Request) -> Response:
        training.change(await _body(request))
        return JSONResponse(training.full_status())

    async def learn(request: Request) -> Response:
        moves = (await _body(request, {"moves": list}, {"moves"}))["moves"]
        if len(moves) > MOST_MOVES or not all(type(move) is int for move in moves):
            raise HTTPException(400, "moves must be a list of whole numbers")
        await run_in_threadpool(training.learn, moves)
        return JSONResponse(training.full_status())

    async def events(request: Request) -> Response:
        stream = () if request.method == "HEAD" else _events(training)
        return StreamingResponse(stream, media_type="text/event-stream")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(training.close)

    return Starlette(
        routes=[
            Route("/", page),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/agents", agents),
            Route("/api/agents", remove, methods=["DELETE"]),
            Route("/api/agents/file", agent_file),
            Route("/api/agents/history", history),
            Route("/api/training", status),
            Route("/api/training", command, methods=["POST"]),
            Route("/api/training/settings", change, methods=["PATCH"]),
            Route("/api/training/games", learn, methods=["POST"]),
            Route("/api/training/events", events),
        ],
        middleware=[
            Middleware(SecurityMiddleware),
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts),
        ],
        exception_handlers={
            HTTPException: _refuse_http,
            Refused: _refuse_ours,
            Exception: _fail,
        },
        lifespan=lifespan,
    )


def _agent_of(request: Request) -> tuple[str, int | None]:
    """Return the agent's id and the update that a query names."""
    query = request.query_params
    pairs = query.multi_items()
    if len(pairs) > len(query) or not {"agent"} <= query.keys() <= {"agent", "update"}:
        raise HTTPException(400, "one agent is needed, and at most one update")
    text = query.get("update")
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(400, "update must be a whole number")
    return query["agent"], None if text is None else int(text)


async def _body(
    request: Request,
    kinds: Mapping[str, type] | None = None,
    needed: set[str] | frozenset[str] = frozenset(),
) -> JsonObject:
    """Return the JSON object that is a request's body.

    `kinds` are the fields that it may have, with their types; None allows all.
    """
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BODY_BYTES:
            raise HTTPException(413, f"the body is longer than {MOST_BODY_BYTES} bytes")
    try:
        body = records.from_json(dict[str, object], content)
    except ValueError as error:
        raise HTTPException(400, f"the body must be a JSON object: {error}") from None
    if missing := sorted(needed - body.keys()):
        raise HTTPException(400, f"{missing[0]} is missing")
    for name, value in body.items() if kinds is not None else ():
        if name not in kinds:
            raise HTTPException(400, f"unknown field {name[:40]!r}")
        if not isinstance(value, kinds[name]):
            raise HTTPException(400, f"{name} has a value of another type")
    return body


async def _events(training: Training) -> AsyncIterator[bytes]:
    """Yield the training's status after each change, with the rows not yet sent.

    A reader that is slow gets fewer messages, but every row.
    """
    run, num_rows = None, 0
    with training.listener() as changed:
        while not training.is_closed:
            changed.clear()
            status, rows = training.status_with_rows()
            if status["run"] != run:
                run, num_rows = status["run"], 0
            message = JSONResponse({**status, "rows": rows[num_rows:]}).body
            num_rows = len(rows)
            yield b"event: training\ndata: " + bytes(message) + b"\n\n"
            await asyncio.sleep(_PAUSE_SECONDS)
            while not training.is_closed and not changed.is_set():
                try:
                    await asyncio.wait_for(changed.wait(), _COMMENT_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"  # finds out whether the reader is, too


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    reason = {"error": error.detail}
    return JSONResponse(reason, error.status_code, headers=error.headers)


async def _refuse_ours(request: Request, error: Exception) -> Response:
    status = 400 if isinstance(error, SettingError) else 409
    return JSONResponse({"error": str(error)}, status)


async def _fail(request: Request, error: Exception) -> Response:
    """Show a fault of ours in the terminal; the server goes on."""
    traceback.print_exception(error, file=sys.stderr)
    reason = "internal error: the server's terminal shows it"
    return JSONResponse({"error": reason}, 500)
