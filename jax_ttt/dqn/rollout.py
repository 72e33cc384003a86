"""Rollouts: the agent's epsilon-greedy moves, and the opponent's replies.

In self-play the agent plays both sides. Against an opponent, one step is the agent's
move and the opponent's reply, so each step begins with the agent's turn.

Axes: `B` games.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from flax import nnx
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from jax_ttt.config.hyper import Hyper
from jax_ttt.config.parts.exploration import ExplorationSettings
from jax_ttt.config.parts.target import TargetSettings
from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations
from jax_ttt.dqn.random_numbers import Turn
from jax_ttt.envs import pgx_games, replies
from jax_ttt.envs.opponents import Opponent
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network


class Played(NamedTuple):
    """The transitions of one step in every game, and scalar figures.

    Wins and losses are the agent's; in self-play they are the first player's.
    """

    transition: equations.Transition
    max_q: jax.Array  # float32, sum of the best legal values in unfinished games
    moves: jax.Array  # int32, like the rest: the agent's moves in unfinished games
    games: jax.Array  # games that ended
    wins: jax.Array
    losses: jax.Array
    env_steps: jax.Array  # moves of both sides in unfinished games


def play_epsilon_greedy(
    config: Config,
    hyper: Hyper,
    network: Network,
    params: nnx.State,
    turn: Turn,
    before: pgx.State,
    epsilon: Float[Array, ""],
    opponent: Opponent,
) -> tuple[pgx.State, Played]:
    """Play one epsilon-greedy move and the reply in every game; consumes `turn`."""
    env = pgx_games.make_env(config.env_id)
    dtype = q_network.learning_dtype(config.network.precision)
    q_values = q_network.q_values(network, params, before.observation, dtype)
    legal = before.legal_action_mask
    explored = opening_epsilon(config.exploration, before, epsilon)
    action = equations.epsilon_greedy(turn.uniform, q_values, legal, explored)
    action = replies.opening(before, action, config.opponent.first_move)
    after, move = pgx_games.step(env, before, action, hyper.gamma)
    after, move = opponent.reply(env, hyper.gamma, turn.reply_key, before, after, move)
    ended = move.live & pgx_games.finished(after)
    result = opponent.result(before, move.reward)
    # Stacked for the same reason as in `metrics.of_chunk`.
    counted = move.live, ended, ended & (result > 0), ended & (result < 0)
    moves, games, wins, losses = jnp.stack(counted).sum(axis=1)
    return after, Played(
        equations.Transition(
            obs=before.observation,
            action=action,
            reward=scored(config.target, move.reward, ended),
            discount=move.discount,
            next_obs=after.observation,
            next_legal_action_mask=after.legal_action_mask,
            live=move.live,
        ),
        max_q=jnp.where(legal, q_values, -jnp.inf).max(axis=1).sum(where=move.live),
        moves=moves,
        games=games,
        wins=wins,
        losses=losses,
        env_steps=opponent.moves_made(before, after),
    )


def scored(
    target: TargetSettings, reward: Float[Array, " B"], ended: Bool[Array, " B"]
) -> Float[Array, " B"]:
    """Return the settings' reward for each game that has ended, else 0."""
    win, draw, loss = target.reward_win, target.reward_draw, target.reward_loss
    if (win, draw, loss) == (1, 0, -1):
        return reward
    value = jnp.where(reward > 0, win, jnp.where(reward < 0, loss, draw))
    return jnp.where(ended, value, 0.0)


def opening_epsilon(
    exploration: ExplorationSettings, env_state: pgx.State, epsilon: Float[Array, ""]
) -> Float[Array, "..."]:
    """Return epsilon for each game: 1 during its random opening.

    How long that is depends on the game's place in the batch: in every fourth place
    there is none, in the others all lengths to `random_opening` follow each other.
    Without random openings the result is `epsilon`.
    """
    if not exploration.random_opening:
        return epsilon
    place = np.arange(len(env_state.terminated))
    length = (place - place // 4 - 1) % (exploration.random_opening + 1)
    length = jnp.asarray(np.where(place % 4 == 0, 0, length))
    return jnp.where(pgx_games.num_moves(env_state) < length, 1.0, epsilon)


def linear_epsilon(
    hyper: Hyper, num_updates: int, update: ArrayLike, games: ArrayLike
) -> ArrayLike:
    """Return epsilon, linear in the updates."""
    del games
    return equations.linear(hyper.epsilon_start, hyper.epsilon_end, num_updates)(update)


def stepped_epsilon(
    hyper: Hyper, num_updates: int, update: ArrayLike, games: ArrayLike
) -> ArrayLike:
    """Return epsilon, lowered by a step after each tenth of the updates."""
    del games
    start, end, drop = hyper.epsilon_start, hyper.epsilon_end, hyper.epsilon_decay
    return equations.steps(start, end, drop, num_updates)(update)


def exponential_epsilon(
    hyper: Hyper, num_updates: int, update: ArrayLike, games: ArrayLike
) -> ArrayLike:
    """Return epsilon, multiplied by a factor after each finished game."""
    del num_updates, update
    start, end, factor = hyper.epsilon_start, hyper.epsilon_end, hyper.epsilon_decay
    return equations.exponential(start, end, factor)(games)


EPSILONS = {
    "linear": linear_epsilon,
    "steps": stepped_epsilon,
    "exponential": exponential_epsilon,
}
"""The functions by the setting `epsilon_schedule`."""


def exploration(
    config: Config, hyper: Hyper, update: ArrayLike, games: ArrayLike
) -> Float[Array, ""]:
    """Return epsilon after this many updates and games."""
    epsilon = EPSILONS[config.exploration.epsilon_schedule]
    return jnp.asarray(epsilon(hyper, config.run.num_updates, update, games))
