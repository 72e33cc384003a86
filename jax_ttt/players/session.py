"""A game between a person and a player, as data.

A `Session` is immutable: every function returns a new one. The module reads and writes
no text, so the terminal and the server share it.

Axes: `B` games, here 1; `A` actions.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.errors import MoveError
from jax_ttt.games import one_game, pgx_games, positions, stones
from jax_ttt.games import tree as trees
from jax_ttt.games.one_game import Result
from jax_ttt.players import network
from jax_ttt.players.agents import Agent
from jax_ttt.players.registry import Entrant
from jax_ttt.solver import minimax


@dataclasses.dataclass(frozen=True, eq=False)
class Session:
    """A game, unfinished or finished."""

    env_id: EnvId
    opponent: Entrant
    seat: Seat  # the person's
    key: Key[Array, ""]  # for the opponent's next moves
    states: tuple[pgx.State, ...]  # (1, ...): before the first and after each move
    moves: tuple[int, ...]  # of both players, the oldest first

    @property
    def state(self) -> pgx.State:
        """The latest state, `(1, ...)`."""
        return self.states[-1]


class MoveValue(NamedTuple):
    """The value of a legal move to the player to move: -1 loss, 1 win."""

    move: int
    minimax_value: float | None  # under best play; None if not enumerable
    q_value: float | None  # a saved agent's estimate; None without an agent


def start_session(
    env_id: EnvId, opponent: Entrant, seat: Seat, key: Key[Array, ""]
) -> Session:
    """Return a new game before its first move; `key` is consumed."""
    key, init_key = jax.random.split(key)
    state = pgx_games.init(pgx_games.make_env(env_id), init_key, 1)
    return Session(env_id, opponent, seat, key, (state,), ())


def legal_moves(session: Session) -> tuple[int, ...]:
    """Return the legal moves in ascending order; none once the game is over."""
    return one_game.legal_moves(session.state)


def to_move(session: Session) -> Seat:
    """Return the seat to move, whose view the latest observation shows.

    After the last move it is the seat that would move next.
    """
    return one_game.seat_to_move(session.states[0], session.state)


def is_over(session: Session) -> bool:
    """Return whether the game has ended."""
    return result(session) is not None


def is_persons_turn(session: Session) -> bool:
    """Return whether the game is not over and it is the person's turn."""
    return not is_over(session) and to_move(session) == session.seat


def result(session: Session, seat: Seat | None = None) -> Result | None:
    """Return the result for a seat, by default the person's; None before the end."""
    return one_game.result(session.states[0], session.state, seat or session.seat)


def play_move(session: Session, move: int) -> Session:
    """Return the game after a move of the person.

    Raises:
        MoveError: the move is illegal, it is the opponent's turn, or the game is over.
    """
    if not is_over(session) and not is_persons_turn(session):
        raise MoveError("it is the opponent's turn, not the person's")
    return _after(session, move)


def play_reply(session: Session) -> Session:
    """Return the game after one move of the opponent.

    Raises:
        MoveError: it is the person's turn, or the game is over.
    """
    if is_persons_turn(session):
        raise MoveError("it is the person's turn, not the opponent's")
    if is_over(session):
        raise MoveError("the opponent has no reply: the game is over")
    key, move_key = jax.random.split(session.key)
    move = int(_chosen(session.opponent.player, move_key, session.state)[0])
    return _after(dataclasses.replace(session, key=key), move)


def undo(session: Session) -> Session:
    """Return the game before the person's latest move.

    The same session is returned if the person has not moved yet. The key is not
    restored: a player with random moves may reply differently.
    """
    for count in reversed(range(len(session.moves))):
        earlier = dataclasses.replace(
            session,
            states=session.states[: count + 1],
            moves=session.moves[:count],
        )
        if is_persons_turn(earlier):
            return earlier
    return session


def move_values(session: Session, agent: Agent | None = None) -> tuple[MoveValue, ...]:
    """Return the values of the legal moves, in the order of the moves.

    The estimates are those of `agent`, by default of the opponent if it is one.
    """
    moves = legal_moves(session)
    exact = minimax_values(session.env_id, session.state)
    learned = _q_values(agent or session.opponent.agent, session.state)
    return tuple(
        MoveValue(
            move,
            None if exact is None else float(exact[move]),
            None if learned is None else float(learned[move]),
        )
        for move in moves
    )


def _after(session: Session, move: int) -> Session:
    state = one_game.play_move(session.env_id, session.state, move)
    return dataclasses.replace(
        session,
        states=(*session.states, state),
        moves=(*session.moves, move),
    )


@jax.jit
def _chosen(
    player: Partial, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    return player(key, env_state)


def minimax_values(
    env_id: EnvId, env_state: pgx.State, quick: bool = False
) -> Float[np.ndarray, " A"] | None:
    """Return the value of each move to the player to move under best play.

    The state is `(1, ...)`. With `quick`, values are discounted by `minimax.QUICK`: a
    quick win is better than a slow one. The result is None if the game is not
    enumerable.
    """
    tree = trees.host_tree(env_id)
    if tree is None:
        return None
    index = jnp.asarray(positions.index(env_id))
    position = int(stones.locate(index, env_state.observation)[0])
    values = minimax.values(tree, minimax.QUICK if quick else 1.0)
    return minimax.to_mover(tree, values)[position]


def _q_values(
    agent: Agent | None, env_state: pgx.State
) -> Float[np.ndarray, " A"] | None:
    if agent is None:
        return None
    obs = env_state.observation
    return np.asarray(network.board_values(agent.network, agent.params, obs))[0]
