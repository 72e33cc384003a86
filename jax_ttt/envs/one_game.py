"""One game as Python values: its legal moves, whose turn it is, how it ended.

A state is PGX's, `(1, ...)`. Who has which of PGX's player ids is drawn at a game's
start, so what concerns a seat takes the state before the first move too: `start`.
"""

from collections.abc import Sequence
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import pgx

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.errors import MoveError
from jax_ttt.envs import pgx_games

Result = Literal["won", "drawn", "lost"]


def legal_moves(env_state: pgx.State) -> tuple[int, ...]:
    """Return the legal moves in ascending order; none once the game is over."""
    if bool(pgx_games.finished(env_state)[0]):
        return ()
    return tuple(np.flatnonzero(env_state.legal_action_mask[0]).tolist())


def play_move(env_id: EnvId, env_state: pgx.State, move: int) -> pgx.State:
    """Return the game after a legal move.

    PGX itself takes any number: it clips one that is out of range, and lets whoever
    makes an illegal move lose.

    Raises:
        MoveError: the move is not legal, or the game is over.
    """
    legal = legal_moves(env_state)
    if move not in legal:
        why = f"legal: {' '.join(map(str, legal))}" if legal else "the game is over"
        raise MoveError(f"{move} is no legal move of {env_id}; {why}")
    return pgx_games.play_moves(
        pgx_games.make_env(env_id), env_state, jnp.array([move])
    )


def states(env_id: EnvId, moves: Sequence[int]) -> tuple[pgx.State, ...]:
    """Return the states of a game, before its first move and after each of the moves.

    Raises:
        MoveError: a move is not legal, or the game is over before it.
    """
    played = [pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)]
    for move in moves:
        played.append(play_move(env_id, played[-1], move))
    return tuple(played)


def seat_to_move(start: pgx.State, env_state: pgx.State) -> Seat:
    """Return the seat whose turn it is and whose view the observation is.

    After the last move it is that of the player who would be next.
    """
    first = pgx_games.seated(start, "first")
    return "first" if bool(pgx_games.is_turn(env_state, first)[0]) else "second"


def result(start: pgx.State, env_state: pgx.State, seat: Seat) -> Result | None:
    """Return how the game ended for a seat; None while it is on."""
    if not bool(pgx_games.finished(env_state)[0]):
        return None
    player = pgx_games.seated(start, seat)
    gain = float(pgx_games.reward_to(env_state, player)[0])
    return "won" if gain > 0 else "lost" if gain < 0 else "drawn"
