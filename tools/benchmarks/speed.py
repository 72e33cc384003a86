"""The speed of the parts besides learning: games, evaluation, matches and tables."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pgx

from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.dqn.learner import DQN
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.grading.sampled_match import play_match
from jax_ttt.players.player import random_player
from jax_ttt.solver import outcomes, policies
from jax_ttt.training import agent_batch, loop, run_start
from tools.benchmarks.timing import Figures, in_turn, ratios, show, show_ms, show_rate
from tools.benchmarks.updates import fused

NUM_ENVS = 2048
"""Games at once of PGX without learning."""
NUM_STEPS = 100
"""Moves of each of these games in a round."""
NUM_GAMES = 2**16
"""Games of a sampled match."""


def measure_steps(rounds: int) -> Figures:
    """Time moves of PGX without learning, and moves of self-play with learning."""
    names: tuple[Preset, ...] = ("default", "article")
    learning = [fused(PRESETS[name]) for name in names]
    counts: list[list[float]] = [[] for _ in names]

    def count_moves(run: Callable[[], Metrics], count: list[float]) -> None:
        count.append(float(run().counts.env_steps.sum()))

    runs = [
        functools.partial(count_moves, run, count)
        for run, count in zip(learning, counts, strict=True)
    ]
    pgx_alone, *timings = in_turn([bare(NUM_ENVS), *runs], rounds)
    text, moves = f"bare PGX, {NUM_ENVS:,} random games", NUM_ENVS * NUM_STEPS
    figures = {"pgx": show_rate(text, moves, pgx_alone, "env steps/s")}
    for name, timed, count in zip(names, timings, counts, strict=True):
        text, rates = f"self-play and learning, {name}", ratios(count[1:], timed.wall)
        figures[name] = show(text, rates, "env steps/s", 0, timed)
    return figures


def bare(num_envs: int) -> Callable[[], object]:
    """Return a function that plays random games of PGX, restarted when they end."""
    env = pgx_games.make_env("tic_tac_toe")

    def step(env_state: pgx.State, key: jax.Array) -> tuple[pgx.State, None]:
        action_key, restart_key = jax.random.split(key)
        action = random_player(action_key, env_state)
        after = jax.vmap(env.step)(env_state, action)
        fresh = pgx_games.init(env, restart_key, num_envs)
        return pgx_games.restart(fresh, after, lockstep=False), None

    @jax.jit
    def play(env_state: pgx.State, key: jax.Array) -> pgx.State:
        return jax.lax.scan(step, env_state, jax.random.split(key, NUM_STEPS))[0]

    start = pgx_games.init(env, jax.random.key(0), num_envs)
    return lambda: jax.block_until_ready(play(start, jax.random.key(1)))


def measure_exact_evaluation(rounds: int) -> Figures:
    """Time the exact evaluation of the default preset's network, after compilation."""
    config = PRESETS["default"].replace(eval_games=0)
    tree = trees.game_tree(config.env_id)
    learner = run_start.make_learner([config], seeds=[0])
    keys = jnp.asarray(agent_batch.run_keys([0]))
    state = agent_batch.start_program(learner, keys, mesh=None)
    weights = agent_batch.agent_weights(learner, state, mesh=None)

    def run() -> object:
        return jax.block_until_ready(
            loop.evaluate_on_devices(learner, weights, 0, keys, tree)
        )

    (timed,) = in_turn([run], 10 * rounds)
    return {"exact": show_ms("exact evaluation", timed)}


def measure_arena(rounds: int) -> Figures:
    """Time sampled matches of random players, and the exact cross table."""
    env = pgx_games.make_env("tic_tac_toe")
    player = random_player
    key = jax.random.key(0)
    moves = int(play_match(env, key, player, player, NUM_GAMES, "first")[1])
    tree = trees.enumerated("tic_tac_toe")
    ten = np.stack([policies.uniform_policy(tree)] * 10)
    runs = [
        lambda: jax.block_until_ready(
            play_match(env, key, player, player, NUM_GAMES, "first")
        ),
        lambda: outcomes.pairwise_outcomes(tree, ten, ten),
    ]
    sampled, table = in_turn(runs, rounds)
    text = f"sampled match, {NUM_GAMES:,} random games"
    return {
        "sampled": show_rate(text, moves, sampled, "env steps/s"),
        "cross_table": show_ms("exact cross table of ten players", table),
    }


def measure_tabular(rounds: int) -> Figures:
    """Time the 14,000 games of the preset `tictac-q`, after compilation."""
    config = PRESETS["tictac-q"]
    learner = DQN.of(config, run_start.make_opponent(config, seed=0))
    init = jax.jit(DQN.init)
    chunk = jax.jit(DQN.chunk)
    num_games = 0

    def run() -> None:
        nonlocal num_games
        state = init(learner, jax.random.key(0))
        state, metrics = chunk(learner, state, num_updates=config.num_updates)
        num_games = int(jax.block_until_ready((state, metrics))[1].counts.games)

    (timed,) = in_turn([run], rounds)
    row = show_ms(f"{num_games:,} games of tictac-q", timed)
    return {"games": num_games, "tictac_q": row}
