"""What the routes work with. Importing it imports JAX."""

import asyncio
import contextlib
import dataclasses
import functools
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from jax_ttt.config import catalogue
from jax_ttt.envs import tree as trees
from jax_ttt.envs.tree import Tree
from jax_ttt.players.agents import Agent
from jax_ttt.runtime import streams
from jax_ttt.serving import static_files
from jax_ttt.serving.static_files import File
from jax_ttt.sessions.agent_list import AgentList
from jax_ttt.sessions.games import SIDE_OF, Game, Games
from jax_ttt.sessions.opponents import Opponents
from jax_ttt.sessions.statistics import Finished, Statistics
from jax_ttt.web import tree_data

Result = TypeVar("Result")


class Training(Protocol):
    """Live training, as the routes use it."""

    def command(self, name: Any, learner: Any = None) -> None:  # noqa: ANN401
        """Start, pause, continue or reset."""
        ...

    def change(self, settings: Mapping[str, float | bool]) -> None:
        """Move sliders."""
        ...

    def status(self) -> dict[str, Any]:
        """Return everything to show."""
        ...

    def subscribe(self) -> Any:  # noqa: ANN401
        """Return a mailbox of what changes."""
        ...

    def unsubscribe(self, box: Any) -> None:  # noqa: ANN401
        """Close a mailbox."""
        ...

    def agent(self, update: int | None = None) -> Agent | None:
        """Return the agent, now or after an update."""
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

    tree: Tree
    tree_file: File
    games: Games
    opponents: Opponents
    statistics: Statistics
    training: Training

    async def computed(self, function: Callable[..., Result], *args: Any) -> Result:  # noqa: ANN401
        """Return the result of a function that may take a while, from the worker."""
        loop, worker = asyncio.get_running_loop(), self.opponents.worker
        return await loop.run_in_executor(worker, functools.partial(function, *args))

    async def count(self, game: Game) -> None:
        """Add a game to the statistics once it is over, and let an agent learn it."""
        result = self.games.result(game)
        if result is None or game.counted:
            return
        game.counted = True
        about = game.opponent.about
        finished = Finished(
            id=game.id,
            finished=time.time(),
            opponent=about.get("level") or about["agent"],
            side=SIDE_OF[game.seat],
            result=result,
            moves="".join(map(str, game.moves)),
        )
        await asyncio.to_thread(self._count, finished, tuple(game.moves))

    def _count(self, finished: Finished, moves: Sequence[int]) -> None:
        try:
            self.statistics.add([finished])
        except sqlite3.Error as error:  # a full disk must not end a game
            streams.tell(f"warning: a game was not counted: {error}")
        self.training.learn_game(moves)

    def close(self) -> None:
        """End the training and the worker, and close the file."""
        self.opponents.close()
        with contextlib.suppress(OSError, FloatingPointError):
            self.opponents.keep_trained()
        self.training.close()
        self.statistics.close()


def make_services(runs: Path, data: Path | None, training: Training) -> Services:
    """Return the services; `data` is the user's folder, None to keep nothing.

    Raises:
        UsageError: a file in the folder can't be used.
    """
    statistics = Statistics(data)
    tree = trees.enumerated(catalogue.DEFAULT)
    text = tree_data.tree_json(catalogue.DEFAULT)
    opponents = Opponents(AgentList(runs, data), training)
    opponents.prepare()
    tree_file = static_files.sent(text, "application/json")
    return Services(tree, tree_file, Games(tree), opponents, statistics, training)
