"""One game as Python values: its legal moves, the seat to move, its result.

A state is PGX's, `(1, ...)`. PGX assigns its player ids at random when a game starts,
so functions about a seat also take the state before the first move: `start`.
"""

from collections.abc import Sequence
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import pgx

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.errors import MoveError
from jax_ttt.games import pgx_games

Result = Literal["won", "drawn", "lost"]


def legal_moves(env_state: pgx.State) -> tuple[int, ...]:
    """Return the legal moves in ascending order; none if the game is over."""
    if bool(pgx_games.finished(env_state)[0]):
        return ()
    return tuple(np.flatnonzero(env_state.legal_action_mask[0]).tolist())


def play_move(env_id: EnvId, env_state: pgx.State, move: int) -> pgx.State:
    """Return the game after a legal move.

    PGX itself accepts any number: it clips a number out of range, and a player who
    makes an illegal move loses.

    Raises:
        MoveError: the move is not legal, or the game is over.
    """
    legal = legal_moves(env_state)
    if move not in legal:
        why = f"legal: {' '.join(map(str, legal))}" if legal else "the game is over"
        raise MoveError(f"{move} is not a legal move of {env_id}; {why}")
    return pgx_games.play_moves(
        pgx_games.make_env(env_id), env_state, jnp.array([move])
    )


def states(env_id: EnvId, moves: Sequence[int]) -> tuple[pgx.State, ...]:
    """Return the states of a game before its first move and after each move.

    Raises:
        MoveError: a move is not legal, or the game is already over.
    """
    played = [pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)]
    for move in moves:
        played.append(play_move(env_id, played[-1], move))
    return tuple(played)


def seat_to_move(start: pgx.State, env_state: pgx.State) -> Seat:
    """Return the seat to move, from whose perspective the observation is.

    After the last move, return the seat that would be next.
    """
    first = pgx_games.seated(start, "first")
    return "first" if bool(pgx_games.is_turn(env_state, first)[0]) else "second"


def result(start: pgx.State, env_state: pgx.State, seat: Seat) -> Result | None:
    """Return the result of the game for a seat; None if it is not over."""
    if not bool(pgx_games.finished(env_state)[0]):
        return None
    player = pgx_games.seated(start, seat)
    gain = float(pgx_games.reward_to(env_state, player)[0])
    return "won" if gain > 0 else "lost" if gain < 0 else "drawn"
