"""The addresses of the page: its files, the tree, the agents and what is known of them.

`game_routes` and `training_routes` have the others.
"""

import collections
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jax_ttt.config.errors import Refused, UsageError
from jax_ttt.serving import checks, static_files
from jax_ttt.serving.loading import Loading
from jax_ttt.serving.replies import Refusal
from jax_ttt.serving.static_files import File
from jax_ttt.web import agent_routes, game_routes, training_routes

if TYPE_CHECKING:
    from jax_ttt.web.services import Services

Answer: TypeAlias = Callable[["Services", Request], Awaitable[object]]
LARGE = ("/api/backup",)
"""The addresses that take a large body."""
ANSWERS: dict[tuple[str, str], Answer] = {
    **agent_routes.ANSWERS,
    **game_routes.ANSWERS,
    **training_routes.ANSWERS,
}
"""The functions that answer requests, by method and path."""


def make_app(loading: "Loading[Services]", files: Mapping[str, File]) -> Starlette:
    """Return the application, without the checks of `serving.checks`.

    `files` are the page's, by name. A request waits until the services are there.
    """

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index")
        return static_files.file_reply(request, files.get(f"{name}.html"))

    async def static(request: Request) -> Response:
        return static_files.file_reply(request, files.get(request.path_params["name"]))

    def answering(by_method: Mapping[str, Answer]) -> Callable:
        async def answered(request: Request) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            result = await by_method[method](await loading.value(), request)
            return result if isinstance(result, Response) else checks.sent(result)

        return answered

    paths: dict[str, dict[str, Answer]] = collections.defaultdict(dict)
    for (method, path), answer in ANSWERS.items():
        paths[path][method] = answer
    routes = [
        Route("/", page),
        Route("/{name}.html", page),
        Route("/static/{name}", static),
        Route("/api/training/events", training_routes.events(loading)),
        *(
            Route(path, answering(by_method), methods=[*by_method])
            for path, by_method in paths.items()
        ),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            Refusal: refuse,
            Refused: refuse,
            HTTPException: refuse,
            Exception: fail,
        },
    )
    app.router.redirect_slashes = False
    return app


def refuse(request: Request, error: Exception) -> Response:
    """Return the reply to a request that can't be answered as asked."""
    del request
    if isinstance(error, HTTPException):
        reply = checks.refused(error.status_code, error.detail)
        reply.headers.update(error.headers or {})
        return reply
    if isinstance(error, Refusal):
        return checks.refused(error.status, error.reason)
    # A command that does not fit the state, or a value outside its range.
    status = 409 if isinstance(error, UsageError) else 400
    return checks.refused(status, " ".join(str(error).split())[:300])


def fail(request: Request, error: Exception) -> Response:
    """Return the reply to a request in which the server failed."""
    del request, error
    return checks.refused(500, "internal error: the server's terminal shows it")
