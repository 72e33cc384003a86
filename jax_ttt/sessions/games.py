"""Games between people and opponents, whose policies are computed before.

Axes: `P` positions, `A` actions.
"""

import collections
import dataclasses
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jax_ttt.config.catalogue import SEAT_OF, SIDES, EnvId, Seat, Side
from jax_ttt.files.records import JsonObject
from jax_ttt.games import pgx_games, positions, stones
from jax_ttt.games.game import Game, Result
from jax_ttt.serving.replies import Refusal

MOST_GAMES = 1000
"""Games kept; the one that was used least recently goes first."""
KEPT_SECONDS = 12 * 3600.0
"""How long a game is kept without a request."""


class Opponent(NamedTuple):
    """Who plays against the person."""

    about: dict[str, str | int]  # as the page asked for it
    probs: np.ndarray  # (P, A) float64 policy


@dataclasses.dataclass
class ServedGame:
    """A game against an opponent, unfinished or finished."""

    id: str
    opponent: Opponent
    seat: Seat  # the person's
    game: Game
    counted: bool = False  # in the statistics: once, even if moves are undone
    used: float = 0.0  # the time of the last request, by the monotonic clock

    @property
    def to_move(self) -> Seat | None:
        """The seat to move; None once the game is over."""
        return None if self.game.is_over else self.game.to_move

    @property
    def result(self) -> Result | None:
        """The person's result; None before the end."""
        return self.game.result(self.seat)

    def as_fields(self) -> JsonObject:
        """Return the game as the page reads it."""
        return {
            "id": self.id,
            "moves": list(self.game.moves),
            "to_move": None if self.to_move is None else SIDES[self.to_move],
            "side": SIDES[self.seat],
            "result": self.result,
            "opponent": self.opponent.about,
        }


class Games:
    """The games of a server.

    It is used by one thread. A refused request changes nothing but the time of use.
    """

    def __init__(
        self, env_id: EnvId, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._env_id, self._clock = env_id, clock
        self._index = positions.index(env_id)
        self._games: collections.OrderedDict[str, ServedGame] = (
            collections.OrderedDict()
        )
        self._rng = np.random.default_rng()

    def prepare(self) -> None:
        """Compile what a move needs, so that the first one need not wait."""
        Game.start(self._env_id).play(0)

    def __len__(self) -> int:
        return len(self._games)

    def start(self, opponent: Opponent, side: Side) -> ServedGame:
        """Return a new game; if the opponent begins, its move is made."""
        self._forget()
        served = ServedGame(
            id=secrets.token_urlsafe(16),
            opponent=opponent,
            seat=SEAT_OF[side],
            game=Game.start(self._env_id),
            used=self._clock(),
        )
        self._games[served.id] = served
        self._reply(served)
        return served

    def find(self, game_id: str) -> ServedGame:
        """Return a game.

        Raises:
            Refusal: there is none with this id.
        """
        game = self._games.get(game_id)
        if game is None or self._clock() - game.used > KEPT_SECONDS:
            raise Refusal(404, "no such game: it ended long ago, or was never here")
        game.used = self._clock()
        self._games.move_to_end(game_id)
        return game

    def play_square(self, game_id: str, ply: int, square: int) -> ServedGame:
        """Return a game after the person's move and the opponent's reply.

        `ply` is the number of moves that the person has seen: a request that is sent
        twice, or from a second tab, changes nothing.

        Raises:
            Refusal: the move is not possible now.
        """
        served = self.find(game_id)
        num_squares = pgx_games.sizes(self._env_id).num_actions
        if not 0 <= square < num_squares:
            raise Refusal(400, f"square must be 0 to {num_squares - 1}")
        _check_ply(served, ply)
        if served.to_move is None:
            raise Refusal(409, "the game is over")
        if served.to_move != served.seat:
            raise Refusal(409, "it is the opponent's turn")
        if square not in served.game.legal_moves:
            raise Refusal(409, f"square {square} is taken")
        served.game = served.game.play(square)
        self._reply(served)
        return served

    def undo_move(self, game_id: str, ply: int) -> ServedGame:
        """Return a game before the person's latest move.

        Raises:
            Refusal: the person has not moved, or `ply` is not the number of moves.
        """
        served = self.find(game_id)
        _check_ply(served, ply)
        earlier = served.game.before_move_of(served.seat)
        if earlier == served.game:
            raise Refusal(409, "there is no move of yours to undo")
        served.game = earlier
        return served

    def _reply(self, served: ServedGame) -> None:
        """Make the opponent's moves until it is the person's turn, or the end."""
        while served.to_move not in (None, served.seat):
            obs = np.asarray(served.game.state.observation)
            position = self._index[stones.number_on_host(stones.cells_on_host(obs))[0]]
            probs = served.opponent.probs[position]
            move = int(self._rng.choice(len(probs), p=probs))
            served.game = served.game.play(move)

    def _forget(self) -> None:
        """Make room for one game."""
        oldest = self._clock() - KEPT_SECONDS
        while self._games:
            first = next(iter(self._games.values()))
            if len(self._games) < MOST_GAMES and first.used > oldest:
                break
            del self._games[first.id]


def _check_ply(served: ServedGame, ply: int) -> None:
    if ply != (made := len(served.game.moves)):
        raise Refusal(409, f"ply must be {made}, the number of moves so far")
