"""Antognini's program as a Python loop, a baseline of the benchmark.

Each move takes three compiled calls, to choose, to play and to learn. After each move
the host waits to see whether every game is over. The equations and the order of random
numbers are the same as in `learner`, so both compute the same.

python -m tools.benchmarks.plain_loop FILE
"""

import argparse
import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pgx
from flax import nnx
from jaxtyping import Array, Bool, Float, Key

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import equations
from jax_ttt.dqn.learner import DQN
from jax_ttt.dqn.random_numbers import draw_random_numbers
from jax_ttt.games import pgx_games, stone_boards
from jax_ttt.players.player import random_player


class Moment(NamedTuple):
    """The state of the loop after an update, valid until the next one."""

    network: nnx.Module
    target_network: nnx.Module
    env_state: pgx.State
    loss: jax.Array


class Plain(nnx.Module):
    """Antognini's network of nnx layers, which holds the weights."""

    def __init__(self, config: Config) -> None:
        planes, num_actions = pgx_games.sizes(config.env_id)
        hidden = config.architecture.hidden_sizes
        sizes = [math.prod(planes), *hidden, num_actions]
        layers: list[Callable] = []
        for num_in, num_out in itertools.pairwise(sizes):
            layers += [nnx.Linear(num_in, num_out, rngs=nnx.Rngs(0)), nnx.relu]
        self.layers = nnx.Sequential(*layers[:-1], nnx.tanh)

    def __call__(self, obs: Bool[Array, "B H W 2"]) -> Float[Array, "B A"]:
        """Return the values, -1 to 1."""
        return self.layers(stone_boards.cells(obs).astype(jnp.float32))


def main(argv: Sequence[str] | None) -> int:
    """Train the agent of Antognini's article with evaluations, and save its weights."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks.plain_loop")
    parser.add_argument("file", type=Path, help="the .npz file of the weights")
    path: Path = parser.parse_args(argv).file
    config = PRESETS["article"]
    train_key, eval_key = jax.random.split(jax.random.key(1))
    loop = train_plain_loop(config, train_key)
    num_updates, every = config.num_updates, config.eval_every
    for update in range(1, num_updates + 1):
        moment = next(loop)
        if update % every == 0 or update == num_updates:
            key = jax.random.fold_in(eval_key, update)
            wins, draws, lost = play_evaluation(config, moment.network, key)
            print(f"{update}: {wins} wins, {draws} draws, {lost} losses", flush=True)
            save_weights(moment.network, path)
    return 0


def save_weights(network: nnx.Module, path: Path) -> None:
    """Write the network's weights as .npz."""
    leaves = jax.tree_util.tree_leaves_with_path(nnx.state(network))
    weights = {jax.tree_util.keystr(at): np.asarray(leaf) for at, leaf in leaves}
    with path.open("wb") as file:
        np.savez(file, **weights)  # type: ignore[arg-type]


def train_plain_loop(config: Config, key: Key[Array, ""]) -> Iterator[Moment]:
    """Train without end, yielding after each update; `key` is consumed.

    Boards must not be canonical, and the TD target must be one-ply with the plain
    maximum.
    """
    env = pgx_games.make_env(config.env_id)
    learner = DQN.of(config)
    start = jax.jit(DQN.init)(learner, key)
    graph = nnx.graphdef(Plain(config))
    # Kernels of `nnx.Linear` are `(inputs, outputs)`, ours `(outputs, inputs)`.
    params = jax.tree.map(jnp.transpose, start.params)
    network = nnx.merge(graph, params)
    target_network = nnx.merge(graph, jax.tree.map(jnp.copy, params))
    adamw = optax.adamw(learner.learning_rate, weight_decay=config.weight_decay)
    optimizer = nnx.Optimizer(network, adamw, wrt=nnx.Param)
    average = jax.jit(equations.polyak, static_argnames="tau")
    epsilon = jax.jit(DQN.epsilon)
    draw = jax.jit(draw_random_numbers, static_argnames="config")
    env_state, update = start.env_state, 0
    while True:
        drawn = draw(config, start.key, update)
        (uniform,) = drawn.turns.uniform
        exploring = epsilon(learner, update, games=0)
        action = choose_moves(network, uniform, env_state, exploring)
        after, move = step_games(env, env_state, action, config.gamma)
        loss = learn(network, target_network, optimizer, env_state, action, after, move)
        params, target_params = nnx.state(network), nnx.state(target_network)
        nnx.update(target_network, average(params, target_params, config.tau))
        env_state, update = after, update + 1
        if pgx_games.is_finished(env_state).all():
            env_state = pgx_games.init(env, drawn.restart_key, config.num_envs)
        yield Moment(network, target_network, env_state, loss)


def play_evaluation(
    config: Config, network: nnx.Module, key: Key[Array, ""]
) -> tuple[int, int, int]:
    """Return the wins, draws and losses of `eval_games` games against random.

    Seats are random. `key` is consumed.
    """
    env = pgx_games.make_env(config.env_id)
    init_key, key = jax.random.split(key)
    num_games = config.num_eval_games(is_exact=False)
    env_state = pgx_games.init(env, init_key, num_games)
    agent = pgx_games.player_in_seat(env_state, "both")
    total = np.zeros(num_games)
    while not pgx_games.is_finished(env_state).all():
        key, move_key = jax.random.split(key)
        action = contest(network, move_key, env_state, agent)
        env_state, _ = step_games(env, env_state, action, config.gamma)
        total += pgx_games.reward_to(env_state, agent)
    return int((total > 0).sum()), int((total == 0).sum()), int((total < 0).sum())


@functools.partial(jax.jit, static_argnames=("env", "gamma"))
def step_games(
    env: pgx.Env, env_state: pgx.State, action: jax.Array, gamma: float
) -> tuple[pgx.State, pgx_games.Move]:
    """Play one move in each game."""
    return pgx_games.step(env, env_state, action, gamma)


@nnx.jit
def choose_moves(
    network: nnx.Module, uniform: jax.Array, env_state: pgx.State, epsilon: jax.Array
) -> jax.Array:
    """Return the move to play in each game."""
    q_values = network(env_state.observation)
    legal = env_state.legal_action_mask
    return equations.epsilon_greedy(uniform, q_values, legal, epsilon)


@nnx.jit
def contest(
    network: nnx.Module, key: jax.Array, env_state: pgx.State, agent: jax.Array
) -> jax.Array:
    """Return the network's move where it is the agent's turn, else a random one."""
    q_values = network(env_state.observation)
    best = equations.greedy(q_values, env_state.legal_action_mask)
    drawn = random_player(key, env_state)
    return jax.numpy.where(pgx_games.is_turn(env_state, agent), best, drawn)


@nnx.jit
def learn(
    network: nnx.Module,
    target_network: nnx.Module,
    optimizer: nnx.Optimizer,
    before: pgx.State,
    action: jax.Array,
    after: pgx.State,
    move: pgx_games.Move,
) -> jax.Array:
    """Take one gradient step in place and return the loss."""
    next_q_values = target_network(after.observation)
    target = equations.td_target(
        move.reward, move.discount, next_q_values, after.legal_action_mask
    )

    def loss_fn(network: nnx.Module) -> jax.Array:
        q_values = network(before.observation)
        return equations.loss(q_values, action, target, move.live)

    loss, grads = nnx.value_and_grad(loss_fn)(network)
    optimizer.update(network, grads)
    return loss


if __name__ == "__main__":
    sys.exit(main(None))
