"""The server's addresses: the page, the agents' files, live training. Imports no JAX.

Each refusal is a status and `{"error": REASON}`.
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
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.web.agent_files import AgentFiles
from jax_ttt.web.live_training import LIVE, Training
from jax_ttt.web.one_file import STATIC
from jax_ttt.web.security import SecurityMiddleware

MOST_BODY_BYTES = 64 * 2**10
MOST_MOVES = 100
"""Most moves of a game that is sent."""
LARGEST_MOVE = 99
"""The largest number of a move that is sent; the rules of its game allow fewer."""
_COMMENT_SECONDS = 15.0
_PAUSE_SECONDS = 0.05
"""Between two messages of a stream: what changes meanwhile is in the second one."""

# Of the registry of Windows a script may get another type, which `nosniff` forbids.
mimetypes.add_type("text/javascript", ".js")


def make_app(files: AgentFiles, training: Training, hosts: Sequence[str]) -> Starlette:
    """Return the application; `hosts` are its names in the header Host, without ports.

    The training is closed at the application's end.
    """
    answers = _Answers(files, training)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        yield
        await run_in_threadpool(training.close)

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/", _page),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/agents", answers.agents),
            Route("/api/agents", answers.remove, methods=["DELETE"]),
            Route("/api/agents/file", answers.file),
            Route("/api/agents/history", answers.history),
            Route("/api/training", answers.status),
            Route("/api/training", answers.command, methods=["POST"]),
            Route("/api/training/settings", answers.change, methods=["PATCH"]),
            Route("/api/training/games", answers.learn, methods=["POST"]),
            Route("/api/training/events", answers.events),
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
    )


async def _page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


class _Answers:
    """The functions that answer; those that read files run in threads."""

    def __init__(self, files: AgentFiles, training: Training) -> None:
        self.agent_files, self.training = files, training

    def agents(self, request: Request) -> Response:
        """Return all agents, and the files that can't be used."""
        listed, refused = self.agent_files.as_json()
        if (live := self.training.as_agent()) is not None:
            listed.append(live)
        return JSONResponse({"agents": listed, "refused": refused})

    def file(self, request: Request) -> Response:
        """Return the file of an agent."""
        agent_id, update = _agent_of(request)
        is_live = agent_id.startswith(LIVE)
        source = self.training if is_live else self.agent_files
        with _refusing_unknown_agents():
            content = source.content(agent_id, update)
        return Response(content, media_type="application/octet-stream")

    def history(self, request: Request) -> Response:
        """Return the evaluations of a run."""
        agent_id = _latest_agent_of(request)
        with _refusing_unknown_agents():
            return JSONResponse({"rows": self.agent_files.history(agent_id)})

    def remove(self, request: Request) -> Response:
        """Delete an agent that was kept."""
        agent_id = _latest_agent_of(request)
        with _refusing_unknown_agents():
            self.agent_files.remove(agent_id)
        return JSONResponse({"removed": agent_id})

    async def status(self, request: Request) -> Response:
        """Return everything about the training."""
        status, rows = self.training.status_with_rows()
        return JSONResponse({**status, "rows": rows})

    async def command(self, request: Request) -> Response:
        """Start, pause, continue or reset the training."""
        body = await _body(request)
        if not {"command"} <= body.keys() <= {"command", "learner"}:
            raise HTTPException(400, "a command is needed, and at most a learner")
        self.training.command(body["command"], body.get("learner"))
        return await self.status(request)

    async def change(self, request: Request) -> Response:
        """Move sliders, or switch learning from people on or off."""
        self.training.change(await _body(request))
        return await self.status(request)

    async def learn(self, request: Request) -> Response:
        """Let the agent in training learn from a game."""
        body = await _body(request)
        if body.keys() != {"moves"}:
            raise HTTPException(400, "the moves of a game are needed")
        await run_in_threadpool(self.training.learn, _moves(body["moves"]))
        return await self.status(request)

    async def events(self, request: Request) -> Response:
        """Return a stream of the training's changes."""
        stream = () if request.method == "HEAD" else _events(self.training)
        return StreamingResponse(stream, media_type="text/event-stream")


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


def _latest_agent_of(request: Request) -> str:
    """Return the agent's id that a query names, without an update."""
    agent_id, update = _agent_of(request)
    if update is not None:
        raise HTTPException(400, "one agent is needed, and no update")
    return agent_id


async def _body(request: Request) -> JsonObject:
    """Return the JSON object that is a request's body."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BODY_BYTES:
            raise HTTPException(413, f"the body is longer than {MOST_BODY_BYTES} bytes")
    try:
        return records.from_json(dict[str, object], content)
    except ValueError as error:
        raise HTTPException(400, f"the body must be a JSON object: {error}") from None


def _moves(value: object) -> list[int]:
    """Return the moves of a request; whether they are legal is not checked."""
    if not isinstance(value, list) or len(value) > MOST_MOVES:
        raise HTTPException(400, "moves must be a list, of a game")
    moves = [move for move in value if type(move) is int and 0 <= move <= LARGEST_MOVE]
    if len(moves) < len(value):
        raise HTTPException(400, "each move must be a whole number")
    return moves


async def _events(training: Training) -> AsyncIterator[bytes]:
    """Yield the training's status after each change, with the rows not yet sent.

    A reader that is slow gets fewer messages, but every row.
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
                    yield b": still here\n\n"  # finds out whether the reader is, too


async def _refuse_http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
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
