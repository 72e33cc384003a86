"""The learner: one update of the agent, and many updates in one program.

`init` makes the first `TrainState`, `update` computes the next one, and `train_chunk`
runs many updates in one compiled program. The opponent is the agent itself (self-play)
or another player.

Axes: `B` games, `T` turns of whole games.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
import pgx
from flax import nnx
from jaxtyping import Array, Float, Key, PyTree

from jax_ttt.config.hyper import Hyper
from jax_ttt.config.parts.replay import ReplaySettings
from jax_ttt.config.settings import Config
from jax_ttt.dqn import (
    equations,
    losses,
    random_numbers,
    replay,
    rollout,
    start_positions,
)
from jax_ttt.dqn.equations import Transition
from jax_ttt.dqn.metrics import Metrics, of_chunk
from jax_ttt.dqn.random_numbers import RandomNumbers, Turn
from jax_ttt.dqn.rollout import Played
from jax_ttt.envs import opponents, pgx_games
from jax_ttt.envs.opponents import Opponent
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TrainState:
    """The state of training on the device; an update returns the next one."""

    params: nnx.State
    target_params: nnx.State
    average_params: nnx.State  # used for grades, saved agents and play
    opt_state: optax.OptState
    env_state: pgx.State  # num_envs games
    new_game: pgx.State  # one game before its first move
    # Any, because JAX also builds this tree from shapes; tests check the types.
    key: Any  # () typed PRNG key, constant in a run (see `random_numbers`)
    update: Any  # () int32, updates done
    games: Any  # () int32, games that have ended
    buffer: replay.Buffer | None  # only with replay
    pool: start_positions.Pool | None  # only where games start in it
    visited: Any  # (rows,) bool, rows visited; only for a table


@functools.partial(jax.jit, static_argnames="config")
def init(
    config: Config,
    hyper: Hyper,
    network: Network,
    key: Key[Array, ""],
    opponent: Opponent,
) -> TrainState:
    """Return the state before the first update; `key` is consumed.

    Raises:
        ValueError: the settings name another opponent.
    """
    opponents.check(config.opponent, opponent)
    key, params_key, env_key = jax.random.split(key, 3)
    initial_value = config.network.initial_value
    params = q_network.init_params(network, params_key, initial_value)
    env_state = opponent.start(config.run, config.opponent, env_key)
    buffer = visited = None
    if config.replay.replay_capacity:

        def play() -> Played:
            turn = random_numbers.of_update(config, key, 0).first
            args = config, hyper, network, params, turn, env_state, jnp.float32(0)
            return rollout.play_epsilon_greedy(*args, opponent)[1]

        like = jax.eval_shape(play).transition
        buffer = replay.init(like, config.replay.replay_capacity)
    if network.is_table:
        visited = jnp.zeros(len(jax.tree.leaves(params)[0]), bool)
    return TrainState(
        params=params,
        target_params=jax.tree.map(jnp.copy, params),
        average_params=jax.tree.map(jnp.copy, params),
        opt_state=losses.optimizer(config, hyper, hyper.learning_rate).init(params),
        env_state=env_state,
        new_game=jax.tree.map(lambda x: x[:1], env_state),
        key=key,
        update=jnp.int32(0),
        games=jnp.int32(0),
        buffer=buffer,
        pool=start_positions.empty() if config.run.start_share else None,
        visited=visited,
    )


def update(
    config: Config,
    hyper: Hyper,
    network: Network,
    state: TrainState,
    opponent: Opponent,
    drawn: RandomNumbers,
) -> tuple[TrainState, Metrics]:
    """Play one move in every game and learn from it; with `backward`, whole games.

    `drawn` are the update's random numbers; they are consumed.

    Raises:
        ValueError: the settings name another opponent.
    """
    opponents.check(config.opponent, opponent)
    epsilon = rollout.exploration(config, hyper, state.update, state.games)

    def play(env_state: pgx.State, turn: Turn) -> tuple[pgx.State, Played]:
        args = config, hyper, network, state.params, turn, env_state, epsilon, opponent
        return rollout.play_epsilon_greedy(*args)

    rate = jnp.asarray(losses.step_size(config, hyper)(state.update))
    learn = functools.partial(learn_from, config, hyper, network, rate)
    if config.target.backward:
        after, played = jax.lax.scan(play, state.env_state, drawn.turns)
        turns = played.transition, drawn.turns.learn_key
        learned, steps = jax.lax.scan(learn, state, turns, reverse=True)
    else:
        turn = drawn.first
        after, played = play(state.env_state, turn)
        kept = config.replay, state.buffer, played.transition, drawn.sample_key
        buffer, batch = replay.remember(*kept)
        learned = dataclasses.replace(state, buffer=buffer)
        learned, steps = learn(learned, (batch, turn.learn_key))

    average_tau = equations.average_tau(hyper.average_span, state.update)
    average = equations.polyak(learned.params, state.average_params, average_tau)
    learned = dataclasses.replace(learned, average_params=average)
    if learned.buffer is not None:
        learned = after_replay_start(config.replay, learned.buffer, state, learned)
    found = measure(learned, played, steps, epsilon, rate)
    args = config.run, config.opponent, drawn.restart_key, state.new_game
    fresh = opponent.replacement(*args)
    fresh = start_positions.new_games(config.run, state.pool, drawn.starts, fresh)
    learned = dataclasses.replace(
        learned,
        env_state=pgx_games.restart(fresh, after, config.run.lockstep),
        update=state.update + 1,
        games=state.games + found.games,
    )
    return learned, found


class Step(NamedTuple):
    """Metrics of one or more gradient steps, `()` or `(T,)` float32."""

    loss: jax.Array
    grad_norm: jax.Array


def learn_from(
    config: Config,
    hyper: Hyper,
    network: Network,
    rate: Float[Array, ""],
    state: TrainState,
    batch_and_key: tuple[Transition, Key[Array, ""]],
) -> tuple[TrainState, Step]:
    """Take one gradient step on a batch of moves; the key is consumed.

    `rate` is the learning rate.
    """
    batch, key = batch_and_key
    params, target_params = state.params, state.target_params
    target = losses.td_targets(config, hyper, network, params, target_params, batch)
    found = losses.loss_and_gradient(config, network, params, target, batch, key)
    optimizer = losses.optimizer(config, hyper, rate)
    steps, opt_state = optimizer.update(found.grads, state.opt_state, params)
    params = jax.tree.map(jnp.add, params, steps)
    visited = state.visited
    if found.visits is not None:
        visited |= losses.visited_rows(found.visits)
    state = dataclasses.replace(
        state,
        params=params,
        target_params=next_target(config, hyper, params, state),
        opt_state=opt_state,
        visited=visited,
    )
    grad_norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(found.grads)))
    return state, Step(found.loss, grad_norm)


def after_replay_start(
    settings: ReplaySettings,
    buffer: replay.Buffer,
    before: TrainState,
    learned: TrainState,
) -> TrainState:
    """Return `learned`, or all weights of `before` until the buffer is ready.

    A step without a live move is not enough: AdamW would decay the weights.
    """
    ready = replay.is_ready(buffer, settings.replay_start)

    def chosen(new: PyTree, old: PyTree) -> PyTree:
        return jax.tree.map(lambda n, o: jnp.where(ready, n, o), new, old)

    return dataclasses.replace(
        learned,
        params=chosen(learned.params, before.params),
        target_params=chosen(learned.target_params, before.target_params),
        average_params=chosen(learned.average_params, before.average_params),
        opt_state=chosen(learned.opt_state, before.opt_state),
    )


def next_target(
    config: Config, hyper: Hyper, params: nnx.State, state: TrainState
) -> nnx.State:
    """Return the target network after an update; `params` are the new ones."""
    every = config.target.target_update_every
    if not every:
        return equations.polyak(params, state.target_params, hyper.tau)
    due = (state.update + 1) % every == 0
    return jax.tree.map(
        lambda new, old: jnp.where(due, new, old), params, state.target_params
    )


def measure(
    state: TrainState,
    played: Played,
    steps: Step,
    epsilon: Float[Array, ""],
    rate: Float[Array, ""],
) -> Metrics:
    """Return the metrics of an update, from one or more turns.

    `epsilon` and the learning rate, `rate`, are those that it used.
    """
    visited = state.visited
    return Metrics(
        loss=jnp.mean(steps.loss),
        grad_norm=jnp.mean(steps.grad_norm),
        mean_max_q=jnp.sum(played.max_q) / jnp.sum(played.moves),
        epsilon=epsilon,
        learning_rate=rate,
        games=jnp.sum(played.games),
        wins=jnp.sum(played.wins),
        losses=jnp.sum(played.losses),
        env_steps=jnp.sum(played.env_steps),
        rows=jnp.int32(0) if visited is None else jnp.sum(visited),
    )


@functools.partial(
    jax.jit, static_argnames=("config", "num_updates"), donate_argnames="state"
)
def train_chunk(
    config: Config,
    hyper: Hyper,
    network: Network,
    state: TrainState,
    num_updates: int,
    opponent: Opponent,
) -> tuple[TrainState, Metrics]:
    """Run `num_updates` updates in one compiled program; `state` is donated.

    Returns the new state and the chunk's metrics (see `metrics.of_chunk`).
    """

    def step(state: TrainState, drawn: RandomNumbers) -> tuple[TrainState, Metrics]:
        return update(config, hyper, network, state, opponent, drawn)

    draw = functools.partial(random_numbers.of_update, config, state.key)
    drawn = jax.vmap(draw)(state.update + jnp.arange(num_updates))
    state, rows = jax.lax.scan(step, state, drawn)
    return state, of_chunk(rows, state.params)
