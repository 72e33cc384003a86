"""The server's addresses: the page, the agents' files, the runs in training.

An error is answered with its status and `{"error": REASON}`. Nothing here imports JAX,
which is slow to load, so the page opens at once.
"""

import contextlib
import mimetypes
import sys
import traceback
from collections.abc import Iterator, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from jax_ttt.files.run_folder import RunFolder
from jax_ttt.web import followed_runs
from jax_ttt.web.agent_files import AgentCollection
from jax_ttt.web.export import STATIC
from jax_ttt.web.security import SecurityMiddleware

# The registry of Windows may have another type for scripts, which `nosniff` forbids.
mimetypes.add_type("text/javascript", ".js")


def make_app(files: AgentCollection, hosts: Sequence[str]) -> Starlette:
    """Return the application.

    `hosts` are the names that the header Host may have, without ports.
    """
    handlers = _Handlers(files)
    return Starlette(
        routes=[
            Route("/", _send_page),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/agents", handlers.list_agents),
            Route("/api/agents/file", handlers.send_agent),
            Route("/api/agents/history", handlers.send_history),
            Route("/api/runs/events", handlers.stream_run),
        ],
        middleware=[
            Middleware(SecurityMiddleware),
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts),
        ],
        exception_handlers={
            HTTPException: _http_error_response,
            Exception: _fault_response,
        },
    )


async def _send_page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


class _Handlers:
    """The functions that answer requests.

    Starlette runs those that are not `async` in threads: they read files.
    """

    def __init__(self, files: AgentCollection) -> None:
        self.agent_files = files

    def list_agents(self, request: Request) -> Response:
        """List the agents, the refused files with the reasons, and runs in training."""
        agents, refused = self.agent_files.list_agents()
        folder = self.agent_files.runs
        return JSONResponse(
            {
                "agents": agents,
                "refused": refused,
                "runs": followed_runs.runs_in_training(folder),
                "command": followed_runs.command_to_train(folder, "connect-4x4"),
            }
        )

    def send_agent(self, request: Request) -> Response:
        """Send the file of an agent."""
        agent_id, update = _agent_and_update(request)
        with _refusing_unknown_agents():
            content = self.agent_files.content(agent_id, update)
        return Response(content, media_type="application/octet-stream")

    def send_history(self, request: Request) -> Response:
        """Send the evaluations of a run."""
        agent_id, update = _agent_and_update(request)
        if update is not None:
            raise HTTPException(400, "one agent is needed, and no update")
        with _refusing_unknown_agents():
            return JSONResponse({"rows": self.agent_files.history(agent_id)})

    async def stream_run(self, request: Request) -> Response:
        """Send a stream of a run's news."""
        query = request.query_params
        if [name for name, _ in query.multi_items()] != ["run"]:
            raise HTTPException(400, "one run is needed")
        if not followed_runs.is_name(query["run"]):
            raise HTTPException(404, "no such run")
        run = RunFolder(self.agent_files.runs / query["run"])
        stream = () if request.method == "HEAD" else followed_runs.event_stream(run)
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


async def _http_error_response(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    reason = {"error": error.detail}
    return JSONResponse(reason, error.status_code, headers=error.headers)


async def _fault_response(request: Request, error: Exception) -> Response:
    """Print an unexpected error in the terminal, and answer without its details."""
    traceback.print_exception(error, file=sys.stderr)
    reason = "internal error: the server's terminal shows it"
    return JSONResponse({"error": reason}, 500)
