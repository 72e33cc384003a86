"""Games between people and opponents, played on the enumerated tree. NumPy only.

A move takes microseconds, since all positions and all policies are computed before.

Axes: `P` positions, `A` actions.
"""

import collections
import dataclasses
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jax_ttt.config.catalogue import SEAT_OF, SIDES, Seat, Side
from jax_ttt.files.records import JsonObject
from jax_ttt.games.tree import Tree
from jax_ttt.serving.replies import Refusal

MOST_GAMES = 1000
"""Games kept; the one that was used least recently goes first."""
KEPT_SECONDS = 12 * 3600.0
"""How long a game is kept without a request."""
RESULTS = {1: "won", 0: "drawn", -1: "lost"}


class Opponent(NamedTuple):
    """Who plays against the person."""

    about: dict[str, str | int]  # as the page asked for it
    probs: np.ndarray  # (P, A) float64 policy


@dataclasses.dataclass
class Game:
    """A game, unfinished or finished."""

    id: str
    opponent: Opponent
    seat: Seat  # the person's
    positions: list[int] = dataclasses.field(default_factory=lambda: [0])
    moves: list[int] = dataclasses.field(default_factory=list)
    counted: bool = False  # in the statistics: once, even if moves are undone
    used: float = 0.0  # the time of the last request, by the monotonic clock


class Games:
    """The games of a server.

    It is used by one thread. A refused request changes nothing but the time of use.
    """

    def __init__(self, tree: Tree, clock: Callable[[], float] = time.monotonic) -> None:
        self.tree, self._clock = tree, clock
        self._games: collections.OrderedDict[str, Game] = collections.OrderedDict()
        self._rng = np.random.default_rng()

    def __len__(self) -> int:
        return len(self._games)

    def start(self, opponent: Opponent, side: Side) -> Game:
        """Return a new game; if the opponent begins, its move is made."""
        self._forget()
        game = Game(secrets.token_urlsafe(16), opponent, SEAT_OF[side])
        game.used = self._clock()
        self._games[game.id] = game
        self._reply(game)
        return game

    def find(self, game_id: str) -> Game:
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

    def play_square(self, game_id: str, ply: int, square: int) -> Game:
        """Return a game after the person's move and the opponent's reply.

        `ply` is the number of moves that the person has seen: a request that is sent
        twice, or from a second tab, changes nothing.

        Raises:
            Refusal: the move is not possible now.
        """
        game = self.find(game_id)
        legal = self.tree.legal_action_mask[game.positions[-1]]
        if not 0 <= square < len(legal):
            raise Refusal(400, f"square must be 0 to {len(legal) - 1}")
        self._check_ply(game, ply)
        if self.result(game) is not None:
            raise Refusal(409, "the game is over")
        if self.to_move(game) != game.seat:
            raise Refusal(409, "it is the opponent's turn")
        if not legal[square]:
            raise Refusal(409, f"square {square} is taken")
        self._play(game, square)
        self._reply(game)
        return game

    def undo_move(self, game_id: str, ply: int) -> Game:
        """Return a game before the person's latest move.

        Raises:
            Refusal: the person has not moved, or `ply` is not the number of moves.
        """
        game = self.find(game_id)
        self._check_ply(game, ply)
        own = [n for n in range(len(game.moves)) if self._seat_at(game, n) == game.seat]
        if not own:
            raise Refusal(409, "there is no move of yours to undo")
        del game.moves[own[-1] :], game.positions[own[-1] + 1 :]
        return game

    def to_move(self, game: Game) -> Seat | None:
        """Return the seat to move; None once the game is over."""
        over = self.tree.terminal[game.positions[-1]]
        return None if over else self._seat_at(game, len(game.moves))

    def result(self, game: Game) -> str | None:
        """Return the person's result, in words; None before the end."""
        if not self.tree.terminal[game.positions[-1]]:
            return None
        return result_of(self.tree, game.positions[-1], game.seat)

    def as_fields(self, game: Game) -> JsonObject:
        """Return a game as the page reads it."""
        seat = self.to_move(game)
        return {
            "id": game.id,
            "moves": list(game.moves),
            "to_move": None if seat is None else SIDES[seat],
            "side": SIDES[game.seat],
            "result": self.result(game),
            "opponent": game.opponent.about,
        }

    def _seat_at(self, game: Game, ply: int) -> Seat:
        return self.tree.to_move(game.positions[ply])

    def _check_ply(self, game: Game, ply: int) -> None:
        if ply != len(game.moves):
            made = len(game.moves)
            raise Refusal(409, f"ply must be {made}, the number of moves so far")

    def _play(self, game: Game, square: int) -> None:
        game.positions.append(int(self.tree.successor[game.positions[-1], square]))
        game.moves.append(square)

    def _reply(self, game: Game) -> None:
        """Make the opponent's moves until it is the person's turn, or the end."""
        while self.to_move(game) not in (None, game.seat):
            probs = game.opponent.probs[game.positions[-1]]
            self._play(game, int(self._rng.choice(len(probs), p=probs)))

    def _forget(self) -> None:
        """Make room for one game."""
        oldest = self._clock() - KEPT_SECONDS
        while self._games:
            first = next(iter(self._games.values()))
            if len(self._games) < MOST_GAMES and first.used > oldest:
                break
            del self._games[first.id]


def result_of(tree: Tree, position: int, seat: Seat) -> str:
    """Return a seat's result in a position where the game is over."""
    sign = 1 if seat == "first" else -1
    return RESULTS[sign * int(tree.outcome[position])]
