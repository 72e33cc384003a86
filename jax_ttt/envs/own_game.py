"""The game that a player plays against itself, from the start or after a line."""

from collections.abc import Sequence
from typing import NamedTuple

import jax

from jax_ttt.config.catalogue import SEATS, EnvId, Seat
from jax_ttt.envs import one_game
from jax_ttt.envs.pgx_games import Player


class OwnGame(NamedTuple):
    """A finished game, and how much of the line it follows."""

    moves: tuple[int, ...]
    num_followed: int


def own_game(
    env_id: EnvId, player: Player, line: Sequence[int] = (), seat: Seat = "first"
) -> OwnGame:
    """Return the game of a deterministic player against itself.

    It follows a line until the player, in a seat, has another move.

    Raises:
        MoveError: a move of the line or of the player is not legal.
    """
    own, moves, followed = SEATS.index(seat), [], None
    states = [*one_game.states(env_id, ())]
    while one_game.legal_moves(states[-1]):
        place = len(moves)
        move = int(player(jax.random.key(0), states[-1])[0])
        if followed is None and place < len(line):
            if place % 2 != own or move == line[place]:
                move = line[place]
            else:
                followed = place
        moves.append(move)
        states.append(one_game.play_move(env_id, states[-1], move))
    followed = min(len(line), len(moves)) if followed is None else followed
    return OwnGame(tuple(moves), followed)
