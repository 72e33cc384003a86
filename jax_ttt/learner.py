"""The learner: where game, network and equations meet.

`init` makes a `TrainState`, `update` takes it one step further, `train_chunk` does
many updates in one compiled program. To learn tic-tac-toe, the agent plays against
the strongest opponent it can find: itself, a moment ago.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
import pgx
from flax import nnx
from jaxtyping import Array, Bool, Float, Int, Key

from jax_ttt import dqn, games, networks
from jax_ttt.config import Config


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


class Metrics(NamedTuple):
    """What an update tells; each is a scalar, the counts int32 and the rest float32."""

    loss: jax.Array
    grad_norm: jax.Array  # L2 norm of the whole gradient
    mean_max_q: jax.Array  # of the best legal action, over the games still on
    epsilon: jax.Array
    learning_rate: jax.Array
    games: jax.Array  # games that ended
    env_steps: jax.Array  # moves played in games still on


def exploration(config: Config) -> optax.Schedule:
    """Return epsilon by update."""
    return dqn.linear_schedule(
        config.epsilon_start, config.epsilon_end, config.num_updates
    )


def step_size(config: Config) -> optax.Schedule:
    """Return the learning rate by update."""
    return dqn.linear_schedule(
        config.learning_rate, config.learning_rate_end, config.num_updates
    )


def optimizer(config: Config) -> optax.GradientTransformation:
    """Return AdamW (Loshchilov and Hutter 2019) or SGD, its step size `step_size`."""
    if config.optimizer == "sgd":
        return optax.sgd(step_size(config))
    return optax.adamw(step_size(config), weight_decay=config.weight_decay)


@functools.partial(jax.jit, static_argnames="config")
def init(config: Config, key: Key[Array, ""]) -> TrainState:
    """Return the state before the first update; `key` is consumed."""
    key, params_key, env_key = jax.random.split(key, 3)
    params = networks.init_params(config, params_key)
    return TrainState(
        params=params,
        target_params=jax.tree.map(jnp.copy, params),
        opt_state=optimizer(config).init(params),
        env_state=games.init(games.make(config.env_id), env_key, config.num_envs),
        key=key,
        update=jnp.int32(0),
    )


def update(config: Config, state: TrainState) -> tuple[TrainState, Metrics]:
    """Play one move in every game and learn from it."""
    key, act_key, restart_key = jax.random.split(state.key, 3)
    epsilon = jnp.asarray(exploration(config)(state.update))

    env, before = games.make(config.env_id), state.env_state
    q_values = networks.q_values(config, state.params, before.observation)
    legal = before.legal_action_mask
    action = dqn.epsilon_greedy(act_key, q_values, legal, epsilon)
    after, move = games.step(env, before, action, config.gamma)
    loss, grads = loss_and_grads(config, state, action, after, move)

    steps, opt_state = optimizer(config).update(grads, state.opt_state, state.params)
    params = jax.tree.map(jnp.add, state.params, steps)
    metrics = Metrics(
        loss=loss,
        grad_norm=jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads))),
        mean_max_q=jnp.where(legal, q_values, -jnp.inf)
        .max(axis=1)
        .mean(where=move.live),
        epsilon=epsilon,
        learning_rate=jnp.asarray(step_size(config)(state.update)),
        games=jnp.sum(move.live & games.finished(after)),
        env_steps=jnp.sum(move.live),
    )
    state = TrainState(
        params=params,
        target_params=next_target(config, params, state),
        opt_state=opt_state,
        env_state=games.restart(env, restart_key, after, config.lockstep),
        key=key,
        update=state.update + 1,
    )
    return state, metrics


def next_target(config: Config, params: nnx.State, state: TrainState) -> nnx.State:
    """Return the target net after an update that gave `params`."""
    every = config.target_update_every
    if not every:
        return dqn.polyak(params, state.target_params, config.tau)
    due = (state.update + 1) % every == 0
    return jax.tree.map(
        lambda new, old: jnp.where(due, new, old), params, state.target_params
    )


def loss_and_grads(
    config: Config,
    state: TrainState,
    action: Int[Array, " B"],
    after: pgx.State,
    move: games.Move,
) -> tuple[Float[Array, ""], nnx.State]:
    """Return the loss of the moves just played, and its gradient by the params.

    The network values the boards a second time here, as it did to choose the moves;
    the compiler sees that and does it once.
    """
    chosen_by = None
    if config.double:
        chosen_by = networks.q_values(config, state.params, after.observation)
    target = dqn.td_target(
        move.reward,
        move.discount,
        networks.q_values(config, state.target_params, after.observation),
        after.legal_action_mask,
        config.tremble,
        chosen_by,
    )
    cost = {"huber": optax.huber_loss, "mse": optax.l2_loss}[config.loss]

    def loss_fn(params: nnx.State) -> jax.Array:
        q_values = networks.q_values(config, params, state.env_state.observation)
        return dqn.loss(q_values, action, target, move.live, cost)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    if config.network == "table":
        grads = per_visit(config, state, action, move.live, grads)
    return loss, grads


def per_visit(
    config: Config,
    state: TrainState,
    action: Int[Array, " B"],
    live: Bool[Array, " B"],
    grads: nnx.State,
) -> nnx.State:
    """Return a table's gradient as the mean over the visits of each entry.

    So a step of SGD takes the same share of the error away at any batch size, however
    often an entry was met. How often that was is a gradient too: of the played values'
    sum.
    """

    def played(params: nnx.State) -> jax.Array:
        q_values = networks.q_values(config, params, state.env_state.observation)
        values = jnp.take_along_axis(q_values, action[:, None], axis=1)[:, 0]
        return jnp.where(live, values, 0.0).sum()

    visits = jax.grad(played)(state.params)
    batch = len(action)
    return jax.tree.map(lambda g, n: g * batch / jnp.maximum(n, 1), grads, visits)


@functools.partial(
    jax.jit, static_argnames=("config", "num_updates"), donate_argnames="state"
)
def train_chunk(
    config: Config, state: TrainState, num_updates: int
) -> tuple[TrainState, Metrics]:
    """Do `num_updates` updates in one compiled program; `state` is used up.

    Returns the new state and the chunk's metrics: sums of the counts, means of the
    loss, gradient norm and value, and the last epsilon and learning rate.
    """
    state, rows = jax.lax.scan(
        lambda state, _: update(config, state), state, None, num_updates
    )
    return state, Metrics(
        loss=rows.loss.mean(),
        grad_norm=rows.grad_norm.mean(),
        mean_max_q=rows.mean_max_q.mean(),
        epsilon=rows.epsilon[-1],
        learning_rate=rows.learning_rate[-1],
        games=rows.games.sum(),
        env_steps=rows.env_steps.sum(),
    )
