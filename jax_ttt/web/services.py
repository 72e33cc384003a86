"""What the routes work with. Importing it imports JAX."""

import asyncio
import contextlib
import dataclasses
import functools
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar, runtime_checkable

from jax_ttt.config import catalogue
from jax_ttt.config.catalogue import SIDES
from jax_ttt.files.records import JsonObject
from jax_ttt.live.mailbox import Mailbox
from jax_ttt.players import agents
from jax_ttt.runtime import streams
from jax_ttt.serving import replies, static_files
from jax_ttt.serving.replies import Refusal
from jax_ttt.serving.static_files import File
from jax_ttt.sessions import backup
from jax_ttt.sessions.agent_list import AgentList
from jax_ttt.sessions.games import Games, ServedGame
from jax_ttt.sessions.opponents import Opponents
from jax_ttt.sessions.statistics import Finished, Statistics
from jax_ttt.web import connect_four_data, tree_data
from jax_ttt.web.descriptions import Descriptions, Watched

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MOST_GAMES = 40_000
"""The most games of a backup, the newest."""


@runtime_checkable
class Training(Watched, Protocol):
    """Live training, as the routes use it."""

    def command(self, name: str, learner: str | None = None) -> None:
        """Start, pause, continue or reset."""
        ...

    def change(self, settings: Mapping[str, object]) -> None:
        """Move sliders."""
        ...

    def subscribe(self) -> Mailbox:
        """Return a mailbox of what changes."""
        ...

    def unsubscribe(self, box: Mailbox) -> None:
        """Close a mailbox."""
        ...

    def learn_game(self, moves: Sequence[int]) -> None:
        """Learn from a game of a person, if that is switched on."""
        ...

    def close(self) -> None:
        """End the thread."""
        ...


@dataclasses.dataclass(frozen=True)
class Services:
    """What the routes work with."""

    tree_file: File
    games: Games
    opponents: Opponents
    statistics: Statistics
    training: Training
    descriptions: Descriptions

    async def computed(
        self,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return the result of a function that may take a while, from the worker."""
        loop, worker = asyncio.get_running_loop(), self.opponents.worker
        call = functools.partial(function, *args, **kwargs)
        return await loop.run_in_executor(worker, call)

    async def count(self, served: ServedGame) -> None:
        """Add a game to the statistics once it is over, and let an agent learn it."""
        result, moves = served.result, served.game.moves
        if result is None or served.counted:
            return
        served.counted = True
        about = served.opponent.about
        finished = Finished(
            id=served.id,
            finished=time.time(),
            opponent=str(about.get("level") or about["agent"]),
            side=SIDES[served.seat],
            result=result,
            moves="".join(map(str, moves)),
        )
        await asyncio.to_thread(self._count, finished, moves)

    def _count(self, finished: Finished, moves: Sequence[int]) -> None:
        try:
            self.statistics.add([finished])
        except sqlite3.Error as error:  # a full disk must not end a game
            streams.tell(f"warning: a game was not counted: {error}")
        self.training.learn_game(moves)

    def connect_four_file(self) -> File:
        """Return the agents of Connect Four as a file; the first time takes seconds."""
        return _connect_four_file()

    def backup(self) -> bytes:
        """Return the statistics and all agents but the shipped ones as a file."""
        return backup.backup_file(self.statistics.games(MOST_GAMES), self._files())

    def _files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the names and files of all agents but the shipped ones."""
        if (trained := self.training.agent()) is not None:
            yield self._trained_name(), agents.as_bytes(trained)
        entries, _ = self.opponents.listed.scan()
        for entry in reversed(entries):
            if entry.source == "shipped":
                continue
            with contextlib.suppress(OSError):  # deleted meanwhile
                yield entry.name, entry.path.read_bytes()

    def restore(self, body: bytes) -> JsonObject:
        """Add the agents and games of a file, and return how many were new.

        Raises:
            Refusal: the file is damaged, or nothing can be written; nothing is added.
        """
        contents = backup.read_backup(body)
        listed = self.opponents.listed
        if listed.imported is None and contents.agents:
            raise Refusal(503, "there is no data folder to keep agents in")
        before = {entry.id for entry in listed.scan()[0]}
        try:
            added = {listed.add(name, file) for name, file in contents.agents}
            new_games = self.statistics.add(contents.games)
        except (OSError, sqlite3.Error) as error:
            raise Refusal(503, f"the data folder can't be written: {error}") from None
        return {"games": new_games, "agents": len(added - before)}

    def close(self) -> None:
        """Keep the agent in training, end training and the worker, close the file.

        The agent is kept with the imported ones. What is being computed or compiled is
        waited for, since a thread can't be stopped.
        """
        try:
            with contextlib.suppress(OSError, FloatingPointError):
                if (trained := self.training.agent()) is not None:
                    file = agents.as_bytes(trained)
                    self.opponents.listed.add(self._trained_name(), file)
        finally:  # a second Ctrl-C must not leave threads that wait for ever
            self.training.close()
        self.opponents.close()
        self.statistics.close()

    def _trained_name(self) -> str:
        return f"trained here {time.strftime('%Y-%m-%d %H.%M')}"


def make_services(runs: Path, data: Path | None, training: Training) -> Services:
    """Return the services; `data` is the user's folder, None to keep nothing.

    Raises:
        UsageError: a file in the folder can't be used.
    """
    statistics = Statistics(data)
    text = tree_data.tree_json(catalogue.DEFAULT)
    opponents = Opponents(AgentList(runs, data), training)
    tree_file = static_files.as_file(text, "application/json")
    descriptions = Descriptions(opponents, training)
    games = Games(catalogue.DEFAULT)
    for prepare in (games.prepare, opponents.prepare, descriptions.all):
        opponents.worker.submit(prepare)  # so that the first page need not wait long
    return Services(
        tree_file,
        games,
        opponents,
        statistics,
        training,
        descriptions,
    )


@functools.cache
def _connect_four_file() -> File:
    text = replies.json_bytes(connect_four_data.connect_four_json())
    return static_files.as_file(text, "application/json")
