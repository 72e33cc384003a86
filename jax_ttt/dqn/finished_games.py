"""Learning from a finished game between any two players.

The page's live training learns in this way from the games of people.

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
from jax_ttt.dqn.learner import DQN, TrainState
from jax_ttt.games import pgx_games

_NO_UPDATE = 2**31 - 1
"""Folded into a run's key in place of the index of an update, which is always less. So
finished games and updates never have the same random numbers."""


class FinishedGame(NamedTuple):
    """A finished game, as data of a program; make it by `finished_game`."""

    moves: jax.Array | np.ndarray  # (T,) int32: of both players; 0 after the end
    number: jax.Array | np.integer  # () int32: 0 for a run's first finished game


def finished_game(env_id: EnvId, moves: Sequence[int], number: int) -> FinishedGame:
    """Return a finished game with its moves as NumPy arrays.

    Moves are padded to the longest game, where that is known, so that one compiled
    program learns from games of all lengths.
    """
    padded = np.zeros(GAMES[env_id].max_moves or len(moves), np.int32)
    padded[: len(moves)] = moves
    return FinishedGame(padded, np.int32(number))


def learn_from_game(learner: DQN, state: TrainState, game: FinishedGame) -> TrainState:
    """Learn from the moves of both players of a finished game, the last move first.

    Each move is one gradient step, which also moves the target network. Its batch has
    `B` moves of which only this one is live. So the move weighs as much as one move of
    an update, and a few games don't undo what a network has learned. The learning rate
    is the rate of the run's next update. The average of the weights moves as far as the
    weights. The counts of updates and games stay. Only for a learner in self-play.
    """
    batch = game_transitions(learner, state.new_game, game.moves)
    key = jax.random.fold_in(jax.random.fold_in(state.key, _NO_UPDATE), game.number)
    keys = jax.random.split(key, len(game.moves))
    learning_rate = learner.learning_rate(state.update)

    def learn(
        state: TrainState, move_and_key: tuple[Transition, jax.Array]
    ) -> tuple[TrainState, None]:
        move, key = move_and_key
        batch = padded_batch(move, learner.config.num_envs)
        return jax.lax.cond(
            move.live[0],
            lambda: learner.learn(state, batch, key, learning_rate)[0],
            lambda: state,
        ), None

    learned, _ = jax.lax.scan(learn, state, (batch, keys), reverse=True)
    average = jax.tree.map(
        lambda new, old, average: new + (average - old),
        learned.params,
        state.params,
        state.average_params,
    )
    return dataclasses.replace(learned, average_params=average)


def game_transitions(
    learner: DQN,
    new_game: pgx.State,
    moves: Int[Array, " T"] | Int[np.ndarray, " T"],
) -> Transition:
    """Return the moves of both players as transitions, `(T, 1, ...)`.

    `new_game` is one game before its first move. Moves after the end are not live, nor
    is an illegal move, which ends the game.
    """
    env = pgx_games.make_env(learner.config.env_id)

    def play(before: pgx.State, action: jax.Array) -> tuple[pgx.State, Transition]:
        after, move = pgx_games.step(env, before, action[None], learner.config.gamma)
        live = move.live & before.legal_action_mask[:, action]
        return after, Transition(
            obs=before.observation,
            action=action[None],
            reward=learner.scored_reward(
                move.reward, live & pgx_games.is_finished(after)
            ),
            discount=move.discount,
            next_obs=after.observation,
            next_legal_action_mask=after.legal_action_mask,
            live=live,
        )

    return jax.lax.scan(play, new_game, jnp.asarray(moves))[1]


def padded_batch(move: Transition, size: int) -> Transition:
    """Return a batch of `size` copies of a move, of which only the first is live."""
    batch = jax.tree.map(lambda leaf: jnp.repeat(leaf, size, axis=0), move)
    return batch._replace(live=batch.live & (jnp.arange(size) == 0))
