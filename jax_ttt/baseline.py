"""The article's program as its author runs it, for the benchmark to be compared with.

A Python loop: each move is one compiled call to choose, one to play and one to learn,
and the host waits after each to see whether every game has ended. The equations, and
the order of the random numbers, are those of `learner`, so both compute the same.
"""

from collections.abc import Iterator

import jax
import pgx
from flax import nnx
from jaxtyping import Array, Key

from jax_ttt import dqn, games, learner, networks
from jax_ttt.config import Config


def train(config: Config, key: Key[Array, ""]) -> Iterator[nnx.State]:
    """Train for ever, yielding the params after each update; `key` is consumed.

    Serves boards that are not canonicalised, and the plain maximum in the target.
    """
    env = games.make(config.env_id)
    start = learner.init(config, key)
    graph = nnx.graphdef(networks.make(config, nnx.Rngs(0)))
    network = nnx.merge(graph, start.params)
    target_network = nnx.merge(graph, start.target_params)
    optimizer = nnx.Optimizer(network, learner.optimizer(config), wrt=nnx.Param)
    play = jax.jit(lambda state, action: games.step(env, state, action, config.gamma))
    average = jax.jit(dqn.polyak, static_argnames="tau")
    fresh = jax.jit(lambda key: games.init(env, key, config.num_envs))
    epsilon = jax.jit(lambda update: learner.exploration(config, update, 0))
    key, env_state, update = start.key, start.env_state, 0
    while True:
        key, act_key, restart_key = jax.random.split(key, 5)[:3]
        action = choose(network, act_key, env_state, epsilon(update))
        after, move = play(env_state, action)
        learn(network, target_network, optimizer, env_state, action, after, move)
        params, target_params = nnx.state(network), nnx.state(target_network)
        nnx.update(target_network, average(params, target_params, config.tau))
        env_state, update = after, update + 1
        if games.finished(env_state).all():
            env_state = fresh(restart_key)
        yield nnx.state(network)


@nnx.jit
def choose(
    network: nnx.Module, key: jax.Array, env_state: pgx.State, epsilon: jax.Array
) -> jax.Array:
    """Return the move to play in each game."""
    q_values = network(games.features(env_state.observation))
    return dqn.epsilon_greedy(key, q_values, env_state.legal_action_mask, epsilon)


@nnx.jit
def learn(
    network: nnx.Module,
    target_network: nnx.Module,
    optimizer: nnx.Optimizer,
    before: pgx.State,
    action: jax.Array,
    after: pgx.State,
    move: games.Move,
) -> jax.Array:
    """Take one gradient step in place and return the loss."""
    next_q_values = target_network(games.features(after.observation))
    target = dqn.td_target(
        move.reward, move.discount, next_q_values, after.legal_action_mask
    )

    def loss_fn(network: nnx.Module) -> jax.Array:
        q_values = network(games.features(before.observation))
        return dqn.loss(q_values, action, target, move.live)

    loss, grads = nnx.value_and_grad(loss_fn)(network)
    optimizer.update(network, grads)
    return loss
