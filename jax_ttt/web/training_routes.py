"""The addresses of live training: its status, commands, sliders and events."""

import asyncio
import queue
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from jax_ttt.serving import checks, replies
from jax_ttt.serving.loading import Loading
from jax_ttt.serving.replies import Refusal

if TYPE_CHECKING:
    from jax_ttt.live.job import FullStatus
    from jax_ttt.web.services import Services

MOST_STREAMS = 24
"""Event streams at once; the other connections are for everything else."""
COMMENT_SECONDS = 15.0
_POLL_SECONDS = 0.05


async def status(services: "Services", request: Request) -> "FullStatus":
    """Return everything about the training."""
    del request
    return services.training.status()


async def command(services: "Services", request: Request) -> "FullStatus":
    """Start, pause, continue or reset the training."""
    body = checks.read_json(await request.body())
    fields = checks.json_object(body, "command", "learner")
    name = checks.field(fields, "command", str)
    learner = checks.optional_field(fields, "learner", str)
    training = services.training
    await asyncio.to_thread(training.command, name, learner)
    return training.status()


async def change(services: "Services", request: Request) -> "FullStatus":
    """Move sliders, or switch learning from people on or off."""
    settings = checks.read_json(await request.body())
    if (
        not isinstance(settings, dict)
        or not settings
        or not all(isinstance(value, int | float) for value in settings.values())
    ):
        raise Refusal(400, "the body must be an object of settings, each a number")
    services.training.change(settings)
    return services.training.status()


def events(
    loading: "Loading[Services]",
) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that answers with a stream of the training's changes."""
    count = 0

    async def opened(request: Request) -> Response:
        services = await loading.value()
        if count >= MOST_STREAMS:
            raise Refusal(503, "too many pages watch the training")
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        return StreamingResponse(stream(services), media_type="text/event-stream")

    async def stream(services: "Services") -> AsyncIterator[bytes]:
        nonlocal count
        count += 1
        box = services.training.subscribe()
        try:
            fields = dict(services.training.status())
            fields["rows"] = fields.pop("history")
            yield _event(fields)
            spoken = time.monotonic()
            # Polled: the training's thread must not wait for any reader.
            while not loading.ended.is_set():
                try:
                    message = _event(box.get(timeout=0.0))
                except queue.Empty:
                    message = b""
                if not message and time.monotonic() - spoken > COMMENT_SECONDS:
                    message = b": still here\n\n"
                if message:
                    spoken = time.monotonic()
                    yield message
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            count -= 1
            services.training.unsubscribe(box)

    return opened


def _event(message: Mapping[str, object]) -> bytes:
    return b"event: training\ndata: " + replies.json_bytes(message) + b"\n\n"


ANSWERS = {
    ("GET", "/api/training"): status,
    ("POST", "/api/training"): command,
    ("PATCH", "/api/training/settings"): change,
}
