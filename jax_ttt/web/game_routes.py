"""The addresses of games, statistics and backups, answered as `ANSWERS` says."""

import asyncio
import sqlite3
import time
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from jax_ttt.config.catalogue import SEAT_OF
from jax_ttt.files.records import JsonObject
from jax_ttt.serving import checks
from jax_ttt.serving.replies import Refusal

if TYPE_CHECKING:
    from jax_ttt.web.services import Services

LONGEST_ID = 300
"""Characters of an agent's id: a folder's name has at most 255 bytes."""


async def start(services: "Services", request: Request) -> Response:
    """Start a game."""
    body = checks.read_json(await request.body())
    fields = checks.json_object(body, "opponent", "side")
    named = checks.field(fields, "opponent", dict)
    side = checks.field(fields, "side", str)
    if side not in SEAT_OF:
        raise Refusal(400, "side has a value that is not allowed")
    checks.json_object(named, "level", "agent", "update")
    level = checks.optional_field(named, "level", str)
    agent_id = checks.optional_field(
        named, "agent", str, lambda text: len(text) <= LONGEST_ID
    )
    update = checks.optional_field(
        named, "update", int, lambda number: 0 <= number <= 10**9
    )
    opponent = await services.computed(
        services.opponents.opponent, level=level, agent_id=agent_id, update=update
    )
    game = services.games.start(opponent, side)
    return checks.sent(game.as_fields(), 201)


async def find(services: "Services", request: Request) -> JsonObject:
    """Return a game."""
    game = services.games.find(request.path_params["game"])
    return game.as_fields()


async def move(services: "Services", request: Request) -> JsonObject:
    """Play a move of the person, and the reply."""
    fields = checks.json_object(checks.read_json(await request.body()), "ply", "square")
    game = services.games.play_square(
        request.path_params["game"],
        ply=checks.field(fields, "ply", int),
        square=checks.field(fields, "square", int),
    )
    shown = game.as_fields()
    await services.count(game)
    return shown


async def undo(services: "Services", request: Request) -> JsonObject:
    """Take the person's latest move back."""
    fields = checks.json_object(checks.read_json(await request.body()), "ply")
    game = services.games.undo_move(
        request.path_params["game"], ply=checks.field(fields, "ply", int)
    )
    return game.as_fields()


async def statistics(services: "Services", request: Request) -> JsonObject:
    """Return the counts of the person's games."""
    del request
    counts = await asyncio.to_thread(services.statistics.counts)
    learned = services.training.status()["positions_learned"]
    return counts | {"positions_learned": learned}


async def clear(services: "Services", request: Request) -> JsonObject:
    """Forget the person's games."""
    try:
        await asyncio.to_thread(services.statistics.clear)
    except sqlite3.Error as error:
        raise Refusal(503, f"the statistics can't be written: {error}") from None
    return await statistics(services, request)


async def backup(services: "Services", request: Request) -> Response:
    """Return agents and statistics as a file."""
    del request
    contents = await services.computed(services.backup)
    name = f"jax_ttt-{time.strftime('%Y%m%d-%H%M%S')}.json"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(contents, headers=headers, media_type="application/json")


async def restore(services: "Services", request: Request) -> JsonObject:
    """Add the agents and statistics of a file."""
    return await services.computed(services.restore, await request.body())


ANSWERS = {
    ("POST", "/api/games"): start,
    ("GET", "/api/games/{game}"): find,
    ("POST", "/api/games/{game}/moves"): move,
    ("POST", "/api/games/{game}/undo"): undo,
    ("GET", "/api/statistics"): statistics,
    ("DELETE", "/api/statistics"): clear,
    ("GET", "/api/backup"): backup,
    ("POST", "/api/backup"): restore,
}
