"""Learning from a finished game, whoever played it.

Axes: `T` moves of the longest game, `B` moves of an update (`num_envs`).
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Int

from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.dqn.equations import Transition
from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.games import pgx_games

_NO_UPDATE = 2**31 - 1
"""Folded into a run's key, it gives numbers that no update has: it is no index."""


class FinishedGame(NamedTuple):
    """A finished game, as data of a program; make it by `finished_game`."""

    moves: jax.Array | np.ndarray  # (T,) int32: both players' in turn; 0 after the end
    number: jax.Array | np.integer  # () int32: its place among those of a run


def finished_game(env_id: EnvId, moves: Sequence[int], number: int) -> FinishedGame:
    """Return a game of NumPy arrays; in most games, all lengths share one program."""
    padded = np.zeros(GAMES[env_id].max_moves or len(moves), np.int32)
    padded[: len(moves)] = moves
    return FinishedGame(padded, np.int32(number))


def learn_from_game(
    learner: Learner, state: TrainState, game: FinishedGame
) -> TrainState:
    """Learn from the moves of both players of a finished game, the last move first.

    Each move is one gradient step on a batch of `B` moves of which only this one is
    live: it weighs as much as any move of an update, so a few games don't undo what a
    network has learned. The learning rate is that of the run's next update. The average
    parameters move by the same steps as the others. Only for a learner in self-play.
    """
    batch = transitions(learner, state.new_game, game.moves)
    key = jax.random.fold_in(jax.random.fold_in(state.key, _NO_UPDATE), game.number)
    keys = jax.random.split(key, len(game.moves))
    learning_rate = learner.learning_rate(state.update)

    def learn(
        state: TrainState, move_and_key: tuple[Transition, jax.Array]
    ) -> tuple[TrainState, None]:
        move, key = move_and_key
        batch = alone(move, learner.config.run.num_envs)
        return jax.lax.cond(
            move.live[0],
            lambda: learner.learn(state, batch, key, learning_rate)[0],
            lambda: state,
        ), None

    learned, _ = jax.lax.scan(learn, state, (batch, keys), reverse=True)
    average = jax.tree.map(
        lambda new, old, mean: new + (mean - old),
        learned.params,
        state.params,
        state.average_params,
    )
    return dataclasses.replace(learned, average_params=average)


def transitions(
    learner: Learner,
    new_game: pgx.State,
    moves: Int[Array, " T"] | Int[np.ndarray, " T"],
) -> Transition:
    """Return the moves of both players as transitions, `(T, 1, ...)`.

    `new_game` is one game before its first move. Moves after the end are not live, and
    neither is an illegal one, which ends the game.
    """
    env = pgx_games.make_env(learner.config.env_id)

    def play(before: pgx.State, action: jax.Array) -> tuple[pgx.State, Transition]:
        after, move = pgx_games.step(env, before, action[None], learner.hyper.gamma)
        live = move.live & before.legal_action_mask[:, action]
        return after, Transition(
            obs=before.observation,
            action=action[None],
            reward=learner.scored(move.reward, live & pgx_games.finished(after)),
            discount=move.discount,
            next_obs=after.observation,
            next_legal_action_mask=after.legal_action_mask,
            live=live,
        )

    return jax.lax.scan(play, new_game, jnp.asarray(moves))[1]


def alone(move: Transition, size: int) -> Transition:
    """Return a batch of `size` moves of which only the first, this one, is live."""
    wide = jax.tree.map(lambda leaf: jnp.repeat(leaf, size, axis=0), move)
    return wide._replace(live=wide.live & (jnp.arange(size) == 0))
