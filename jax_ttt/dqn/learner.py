"""The learner: where game, network and equations meet.

`init` makes a `TrainState`, `update` takes it one step further, `train_chunk` does
many updates in one compiled program. To learn tic-tac-toe, the agent plays against
the strongest opponent it can find: itself, a moment ago. (Others can be asked for.)
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pgx
from flax import nnx
from jaxtyping import Array, Key

from jax_ttt.config.settings import Config, joined
from jax_ttt.dqn import (
    equations,
    losses,
    metrics,
    opponents,
    replay,
    rollout,
    schedules,
    tabular,
    targets,
)
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.dqn.opponents import Opponent
from jax_ttt.dqn.rollout import Played
from jax_ttt.envs import pgx_games
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TrainState:
    """Everything that changes from one update to the next."""

    params: nnx.State
    target_params: nnx.State
    opt_state: optax.OptState
    env_state: pgx.State  # num_envs games
    # Any: JAX also builds trees of shapes, and the types are checked in tests.
    key: Any  # () typed PRNG key
    update: Any  # () int32, updates done
    games: Any  # () int32, games ended
    buffer: replay.Buffer | None  # with replay only
    met: Any  # (rows,) bool, rows visited; of a table only


@functools.partial(jax.jit, static_argnames="config")
def init(
    config: Config, network: Network, key: Key[Array, ""], opponent: Opponent
) -> TrainState:
    """Return the state before the first update; `key` is consumed.

    Raises:
        ValueError: the settings name another opponent.
    """
    opponents.check(config, opponent)
    key, params_key, env_key = jax.random.split(key, 3)
    params = q_network.init_params(network, params_key)
    env_state = opponent.start(config, env_key)
    buffer = met = None
    if config.replay_capacity:
        _, played = jax.eval_shape(
            lambda: rollout.play(
                config, network, params, key, env_state, jnp.float32(0), opponent
            )
        )
        buffer = replay.init(played.transition, config.replay_capacity)
    if config.network == "table":
        met = jnp.zeros(len(jax.tree.leaves(params)[0]), bool)
    return TrainState(
        params=params,
        target_params=jax.tree.map(jnp.copy, params),
        opt_state=schedules.optimizer(config).init(params),
        env_state=env_state,
        key=key,
        update=jnp.int32(0),
        games=jnp.int32(0),
        buffer=buffer,
        met=met,
    )


def update(
    config: Config, network: Network, state: TrainState, opponent: Opponent
) -> tuple[TrainState, Metrics]:
    """Play one move in every game, or with `config.backward` all of them, and learn.

    Raises:
        ValueError: the settings name another opponent.
    """
    opponents.check(config, opponent)
    key, act_key, restart_key, sample_key, learn_key = jax.random.split(state.key, 5)
    epsilon = schedules.exploration(config, state.update, state.games)

    def play(env_state: pgx.State, key: jax.Array) -> tuple[pgx.State, Played]:
        args = state.params, key, env_state, epsilon, opponent
        return rollout.play(config, network, *args)

    def learn(
        state: TrainState, lesson: tuple[equations.Transition, jax.Array]
    ) -> tuple[TrainState, tuple[jax.Array, jax.Array]]:
        return learn_from(config, network, state, *lesson)

    before = state
    if config.backward:
        num_turns = opponents.max_turns(config)
        act_keys = jax.random.split(act_key, num_turns)
        after, played = jax.lax.scan(play, state.env_state, act_keys)
        lessons = played.transition, jax.random.split(learn_key, num_turns)
        state, (loss, grad_norm) = jax.lax.scan(learn, state, lessons, reverse=True)
    else:
        after, played = play(state.env_state, act_key)
        state, batch = remember(config, state, played.transition, sample_key)
        state, (loss, grad_norm) = learn(state, (batch, learn_key))

    found = measure(config, state, played, loss, grad_norm, epsilon)
    fresh = opponent.start(config, restart_key)
    state = dataclasses.replace(
        state,
        env_state=pgx_games.restart(fresh, after, config.lockstep),
        key=key,
        update=before.update + 1,
        games=before.games + found.games,
    )
    return state, found


def measure(
    config: Config,
    state: TrainState,
    played: Played,
    loss: jax.Array,
    grad_norm: jax.Array,
    epsilon: jax.Array,
) -> Metrics:
    """Return what an update tells, of one move in every game or of several."""
    return Metrics(
        loss=jnp.mean(loss),
        grad_norm=jnp.mean(grad_norm),
        mean_max_q=jnp.sum(played.max_q) / jnp.sum(played.moves),
        epsilon=epsilon,
        learning_rate=jnp.asarray(schedules.step_size(config)(state.update)),
        games=jnp.sum(played.games),
        wins=jnp.sum(played.wins),
        losses=jnp.sum(played.losses),
        env_steps=jnp.sum(played.env_steps),
        rows=jnp.int32(0) if state.met is None else jnp.sum(state.met),
    )


def remember(
    config: Config, state: TrainState, batch: equations.Transition, key: Key[Array, ""]
) -> tuple[TrainState, equations.Transition]:
    """Return what to learn from: the moves just played, or with replay some kept."""
    if state.buffer is None:
        return state, batch
    buffer = replay.add(state.buffer, batch)
    batch = replay.sample(buffer, key, config.replay_batch, config.replay_start)
    return dataclasses.replace(state, buffer=buffer), batch


def learn_from(
    config: Config,
    network: Network,
    state: TrainState,
    batch: equations.Transition,
    key: Key[Array, ""],
) -> tuple[TrainState, tuple[jax.Array, jax.Array]]:
    """Take one gradient step; also returns the loss and the gradient's norm."""
    params, target_params = state.params, state.target_params
    target = targets.targets(config, network, params, target_params, batch)
    loss, grads, visits = losses.lesson(config, network, params, target, batch, key)
    optimizer = schedules.optimizer(config)
    steps, opt_state = optimizer.update(grads, state.opt_state, state.params)
    params = jax.tree.map(jnp.add, state.params, steps)
    state = dataclasses.replace(
        state,
        params=params,
        target_params=next_target(config, params, state),
        opt_state=opt_state,
        met=None if visits is None else state.met | tabular.met(visits),
    )
    grad_norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
    return state, (loss, grad_norm)


def next_target(config: Config, params: nnx.State, state: TrainState) -> nnx.State:
    """Return the target net after an update that gave `params`."""
    every = config.target_update_every
    if not every:
        return equations.polyak(params, state.target_params, config.tau)
    due = (state.update + 1) % every == 0
    return jax.tree.map(
        lambda new, old: jnp.where(due, new, old), params, state.target_params
    )


@functools.partial(
    jax.jit, static_argnames=("config", "num_updates"), donate_argnames="state"
)
def train_chunk(
    config: Config,
    network: Network,
    state: TrainState,
    num_updates: int,
    opponent: Opponent,
    numbers: dict[str, jax.Array] | None = None,
) -> tuple[TrainState, Metrics]:
    """Do `num_updates` updates in one compiled program; `state` is used up.

    `numbers` go before the settings of the same names: they are data, so that others
    need no other program.

    Returns the new state and the chunk's metrics: sums of the counts, means of the
    loss, gradient norm and value, and the last epsilon, learning rate and rows.
    """
    config = joined(config, numbers or {})

    def step(state: TrainState, _: None) -> tuple[TrainState, Metrics]:
        return update(config, network, state, opponent)

    state, rows = jax.lax.scan(step, state, None, num_updates)
    return state, metrics.of_chunk(rows)
