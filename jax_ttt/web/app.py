"""The server's addresses: the page, the agents' files, live training.

An error is answered with its status and `{"error": REASON}`. Nothing here imports JAX,
which is slow to load, so the page opens at once; only a training loads it.
"""

import asyncio
import contextlib
import mimetypes
import sys
import traceback
from collections.abc import AsyncIterator, Iterator, Sequence

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from jax_ttt.config.errors import Refused
from jax_ttt.files import json_records
from jax_ttt.files.json_records import JsonObject
from jax_ttt.web.agent_files import AgentCollection
from jax_ttt.web.one_file import STATIC
from jax_ttt.web.security import SecurityMiddleware
from jax_ttt.web.training_thread import LIVE, Training, WrongStateError

MAX_BODY_BYTES = 64 * 2**10
MAX_MOVES = 100
"""Maximum number of moves in a request; no game of the page is longer."""
LARGEST_MOVE = 99
"""Largest number of a move in a request; the rules of its game are checked later."""
_COMMENT_SECONDS = 15.0
"""Time without a change after which a stream sends a comment."""
_PAUSE_SECONDS = 0.05
"""Time between two messages of a stream; changes in between are sent together."""

# The registry of Windows may have another type for scripts, which `nosniff` forbids.
mimetypes.add_type("text/javascript", ".js")


def make_app(
    files: AgentCollection, training: Training, hosts: Sequence[str]
) -> Starlette:
    """Return the application, which closes the training at its end.

    `hosts` are the names that the header Host may have, without ports.
    """
    handlers = _Handlers(files, training)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        yield
        await run_in_threadpool(training.close)

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/", _send_page),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/agents", handlers.list_agents),
            Route("/api/agents", handlers.remove_agent, methods=["DELETE"]),
            Route("/api/agents/file", handlers.send_agent),
            Route("/api/agents/history", handlers.send_history),
            Route("/api/training", handlers.run_command, methods=["POST"]),
            Route("/api/training/settings", handlers.change, methods=["PATCH"]),
            Route("/api/training/games", handlers.learn_game, methods=["POST"]),
            Route("/api/training/events", handlers.stream_events),
        ],
        middleware=[
            Middleware(SecurityMiddleware),
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts),
        ],
        exception_handlers={
            HTTPException: _http_error_response,
            Refused: _refused_response,
            Exception: _fault_response,
        },
    )


async def _send_page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


class _Handlers:
    """The functions that answer requests.

    Starlette runs those that are not `async` in threads: they read files.
    """

    def __init__(self, files: AgentCollection, training: Training) -> None:
        self.agent_files, self.training = files, training

    def list_agents(self, request: Request) -> Response:
        """List all agents, and the files that can't be used with the reasons."""
        agents, refused = self.agent_files.list_agents()
        if (live := self.training.agent_entry()) is not None:
            agents.append(live)
        return JSONResponse({"agents": agents, "refused": refused})

    def send_agent(self, request: Request) -> Response:
        """Send the file of an agent."""
        agent_id, update = _agent_and_update(request)
        is_live = agent_id.startswith(LIVE)
        source = self.training if is_live else self.agent_files
        with _refusing_unknown_agents():
            content = source.content(agent_id, update)
        return Response(content, media_type="application/octet-stream")

    def send_history(self, request: Request) -> Response:
        """Send the evaluations of a run."""
        agent_id = _agent_id(request)
        with _refusing_unknown_agents():
            return JSONResponse({"rows": self.agent_files.history(agent_id)})

    def remove_agent(self, request: Request) -> Response:
        """Delete a kept agent."""
        agent_id = _agent_id(request)
        with _refusing_unknown_agents():
            self.agent_files.remove(agent_id)
        return _done()

    async def run_command(self, request: Request) -> Response:
        """Start, pause, continue or reset the training."""
        body = await _json_body(request)
        if not {"command"} <= body.keys() <= {"command", "learner"}:
            raise HTTPException(400, "the body needs `command`, and may have `learner`")
        self.training.command(body["command"], body.get("learner"))
        return _done()

    async def change(self, request: Request) -> Response:
        """Move sliders, or switch learning from people on or off."""
        self.training.change(await _json_body(request))
        return _done()

    async def learn_game(self, request: Request) -> Response:
        """Pass a finished game to the agent in training, which learns from it."""
        body = await _json_body(request)
        if body.keys() != {"moves"}:
            raise HTTPException(400, "the body needs `moves` and nothing else")
        await run_in_threadpool(self.training.learn, _checked_moves(body["moves"]))
        return _done()

    async def stream_events(self, request: Request) -> Response:
        """Send a stream of the training's changes."""
        stream = () if request.method == "HEAD" else _event_stream(self.training)
        return StreamingResponse(stream, media_type="text/event-stream")


def _done() -> Response:
    """Return the reply to a command; what it changes comes with the events."""
    return Response(status_code=204)


@contextlib.contextmanager
def _refusing_unknown_agents() -> Iterator[None]:
    try:
        yield
    except KeyError:
        raise HTTPException(404, "no such agent") from None
    except OSError as error:  # whose text may have a path
        raise HTTPException(404, error.strerror) from None
    except ValueError as error:  # a file that can't be read
        raise HTTPException(404, str(error)) from None


def _agent_and_update(request: Request) -> tuple[str, int | None]:
    """Return the agent's id and the update in a query; None is the latest."""
    query = request.query_params
    pairs = query.multi_items()
    if len(pairs) > len(query) or not {"agent"} <= query.keys() <= {"agent", "update"}:
        raise HTTPException(400, "one agent is needed, and at most one update")
    text = query.get("update")
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(400, "update must be a whole number")
    return query["agent"], None if text is None else int(text)


def _agent_id(request: Request) -> str:
    """Return the agent's id in a query, which may not have an update."""
    agent_id, update = _agent_and_update(request)
    if update is not None:
        raise HTTPException(400, "one agent is needed, and no update")
    return agent_id


async def _json_body(request: Request) -> JsonObject:
    """Return a request's body, which must be a JSON object."""
    content = b""
    try:
        async for part in request.stream():
            content += part
            if len(content) > MAX_BODY_BYTES:
                raise HTTPException(
                    413, f"the body is longer than {MAX_BODY_BYTES} bytes"
                )
    except ClientDisconnect:
        raise HTTPException(400, "the connection ended before the body") from None
    try:
        return json_records.from_json(dict[str, object], content)
    except ValueError as error:
        raise HTTPException(400, f"the body must be a JSON object: {error}") from None


def _checked_moves(value: object) -> list[int]:
    """Check that the moves of a request are whole numbers, legal or not."""
    if not isinstance(value, list) or len(value) > MAX_MOVES:
        raise HTTPException(400, "`moves` must be the list of a game's moves")
    moves = [move for move in value if type(move) is int and 0 <= move <= LARGEST_MOVE]
    if len(moves) < len(value):
        raise HTTPException(400, "each move must be a whole number")
    return moves


async def _event_stream(training: Training) -> AsyncIterator[bytes]:
    """Yield the training's status now and after each change, with rows not yet sent.

    A slow reader gets fewer messages, but every row.
    """
    run, num_rows = None, 0
    with training.listener() as changes:
        while not training.is_closed:
            status, rows = training.status_with_rows()
            if status["run"] != run:
                run, num_rows = status["run"], 0
            message = JSONResponse({**status, "rows": rows[num_rows:]}).body
            num_rows = len(rows)
            yield b"event: training\ndata: " + bytes(message) + b"\n\n"
            await asyncio.sleep(_PAUSE_SECONDS)
            is_changed = False
            while not is_changed:
                try:
                    await asyncio.wait_for(changes.get(), _COMMENT_SECONDS)
                    is_changed = True
                except TimeoutError:
                    yield b": still here\n\n"  # fails if the reader has gone


async def _http_error_response(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    reason = {"error": error.detail}
    return JSONResponse(reason, error.status_code, headers=error.headers)


async def _refused_response(request: Request, error: Exception) -> Response:
    # The request itself is wrong, or it does not fit the state of the training.
    status = 409 if isinstance(error, WrongStateError) else 400
    return JSONResponse({"error": str(error)}, status)


async def _fault_response(request: Request, error: Exception) -> Response:
    """Print an unexpected error in the terminal, and answer without its details."""
    traceback.print_exception(error, file=sys.stderr)
    reason = "internal error: the server's terminal shows it"
    return JSONResponse({"error": reason}, 500)
