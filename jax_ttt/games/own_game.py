"""The game that a player plays against itself, from the start or after a line."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Int

from jax_ttt.config.catalogue import SEATS, EnvId, Seat
from jax_ttt.games import one_game


class OwnGame(NamedTuple):
    """A finished game, and how much of the line it follows."""

    moves: tuple[int, ...]
    num_followed: int


def own_game(
    env_id: EnvId, player: Partial, line: Sequence[int] = (), seat: Seat = "first"
) -> OwnGame:
    """Return the game of a deterministic player `(key, env_state) -> actions`.

    It plays both sides of a game in which the players alternate. Before that, it
    follows a line until it has another move in its seat, or the game is over.

    Raises:
        MoveError: a move is not legal.
    """
    own, moves, followed = SEATS.index(seat), [], None
    states = [*one_game.states(env_id, ())]
    while one_game.legal_moves(states[-1]):
        place = len(moves)
        move = int(_chosen(player, states[-1])[0])
        if followed is None and place < len(line):
            if place % 2 != own or move == line[place]:
                move = line[place]
            else:
                followed = place
        moves.append(move)
        states.append(one_game.play_move(env_id, states[-1], move))
    followed = min(len(line), len(moves)) if followed is None else followed
    return OwnGame(tuple(moves), followed)


@jax.jit
def _chosen(player: Partial, env_state: pgx.State) -> Int[Array, " B"]:
    return player(jax.random.key(0), env_state)
