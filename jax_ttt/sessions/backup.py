"""Agents and statistics as one file, to keep or to take to another machine.

The file is JSON; agents are base64 of their safetensors files. A file is checked whole
before anything of it is kept.
"""

import base64
import binascii
import dataclasses
import itertools
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import SEAT_OF
from jax_ttt.files.records import JsonObject
from jax_ttt.games.game import Game
from jax_ttt.players.agents import AgentError
from jax_ttt.serving import checks, replies
from jax_ttt.serving.replies import Refusal
from jax_ttt.sessions import agent_list
from jax_ttt.sessions.statistics import Finished

FORMAT, VERSION = "jax_ttt backup", 1
MOST_BYTES = 8 * 2**20
"""The largest file, written or read."""
MOST_AGENTS = 200
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_DIGITS = "012345678"  # of moves
_OPPONENT = re.compile(r"[^\x00-\x1f\ud800-\udfff]{1,300}")


class Contents(NamedTuple):
    """What a file holds, checked."""

    games: list[Finished]
    agents: list[tuple[str, bytes]]  # name and file


def backup_file(
    finished: Sequence[Finished], files: Iterable[tuple[str, bytes]]
) -> bytes:
    """Return a file of these games and agents; the first ones that fit are kept.

    Agents are taken one at a time, so `files` may read them one at a time.
    """
    about: JsonObject = {"format": FORMAT, "version": VERSION}
    games, room = _fitting(map(dataclasses.asdict, finished), MOST_BYTES - 1000)
    encoded: Iterator[JsonObject] = (
        {"name": name, "file": base64.b64encode(contents).decode()}
        for name, contents in itertools.islice(files, MOST_AGENTS)
    )
    agents, _ = _fitting(encoded, room)
    return replies.json_bytes(about | {"games": games, "agents": agents})


def _fitting(parts: Iterable[JsonObject], room: int) -> tuple[list[JsonObject], int]:
    """Return the parts that fit into `room` bytes of JSON, and the room left."""
    kept = []
    for part in parts:
        size = len(replies.json_bytes(part)) + 1
        if size <= room:
            kept.append(part)
            room -= size
    return kept, room


def read_backup(body: bytes) -> Contents:
    """Return the contents of a file.

    Raises:
        Refusal: it is damaged, or no such file; the reason names the part.
    """
    value = checks.read_json(body)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise Refusal(400, "not a backup of this program")
    version = value.get("version")
    if type(version) is not int or version != VERSION:
        raise Refusal(
            400, f"format version {str(version)[:20]}; this program reads {VERSION}"
        )
    rows, agents = value.get("games"), value.get("agents")
    if not isinstance(rows, list) or not isinstance(agents, list):
        raise Refusal(400, "the backup has no list of games, or none of agents")
    if len(agents) > MOST_AGENTS:
        raise Refusal(400, f"more than {MOST_AGENTS} agents")
    return Contents(
        [_game(n, row) for n, row in enumerate(rows, 1)],
        [_agent(n, agent) for n, agent in enumerate(agents, 1)],
    )


def _game(number: int, row: object) -> Finished:
    """Return a game of a file: its moves are played again."""
    where = f"game {number}"
    names = {field.name: field.type for field in dataclasses.fields(Finished)}
    if not isinstance(row, dict) or row.keys() != names.keys():
        raise Refusal(400, f"{where} needs the fields {', '.join(names)}")
    finished = row["finished"]
    if type(finished) not in (int, float) or not 0 <= finished < 1e11:
        raise Refusal(400, f"{where}: finished must be seconds since 1970")
    texts = {name: row[name] for name in names if name != "finished"}
    if not all(isinstance(text, str) for text in texts.values()):
        raise Refusal(400, f"{where}: its fields must be text")
    if not _ID.fullmatch(texts["id"]) or not _OPPONENT.fullmatch(texts["opponent"]):
        raise Refusal(400, f"{where}: its id or opponent is not allowed")
    try:
        game = Game.start(
            catalogue.DEFAULT, [_DIGITS.index(move) for move in texts["moves"]]
        )
    except ValueError:
        raise Refusal(400, f"{where}: its moves are not possible") from None
    side = texts["side"]
    if side not in SEAT_OF or not game.is_over:
        raise Refusal(400, f"{where}: no finished game of x or o")
    if texts["result"] != game.result(SEAT_OF[side]):
        raise Refusal(400, f"{where}: its result is not that of its moves")
    return Finished(finished=float(finished), **texts)


def _agent(number: int, value: object) -> tuple[str, bytes]:
    """Return the name and the file of an agent, which is read as any other file."""
    where = f"agent {number}"
    if not isinstance(value, dict) or value.keys() != {"name", "file"}:
        raise Refusal(400, f"{where} needs the fields name, file")
    name, text = value["name"], value["file"]
    if not isinstance(name, str) or not isinstance(text, str):
        raise Refusal(400, f"{where}: its fields must be text")
    try:
        contents = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(400, f"{where}: its file is not base64") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.safetensors"
        path.write_bytes(contents)
        try:
            agent_list.read_agent(path)
        except AgentError as error:
            reason = str(error).replace(f"{path}: ", "")[:300]
            raise Refusal(400, f"{where}: {reason}") from None
    return name[:80], contents
