"""The host-side training loop: chunks of updates, and evaluations between them.

Axes: `S` agents that train at once; the axis is absent for a single agent.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.config.errors import SettingError
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import PATCH_SIDE, Config
from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.opponents import Opponent, Versus
from jax_ttt.games.tree import Tree
from jax_ttt.grading import counterexamples
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.players import names, registry
from jax_ttt.runtime import devices
from jax_ttt.runtime import mesh as meshes
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.training import device, layout, run_state
from jax_ttt.training.layout import KeyData, Layout
from jax_ttt.training.run_state import RunState, RunStep, run_key

LESS_MEMORY = (
    "lower --num-envs, --hidden-size, --filters, --replay-capacity or --eval-games"
)
CHUNK = 50
"""Most updates in one call of the compiled program; the host runs between calls."""
_CHUNK_WORK = 4e11
"""Most floating-point operations of one call: a second or two on a processor, since a
signal is answered between calls."""
_LONG = 1_000_000
"""Moves of a run from which full optimization pays off: some seconds of training."""
_ALONE = Layout()


def make_learner(config: Config, seed: int) -> Learner:
    """Return the learner of the run with this seed, and its opponent.

    Raises:
        PlayerError: the opponent is unknown.
        SettingError: the first move is illegal in this game.
    """
    check_first_move(config)
    return Learner.of(config, make_opponent(config, seed))


def make_learners(configs: Sequence[Config], seeds: Sequence[int]) -> Learner:
    """Return the learner of many agents, whose numbers and opponents are `(S,)`.

    Raises:
        ValueError: the settings differ in more than the numbers of `Hyper`.
    """
    first, *others = (
        make_learner(config, seed) for config, seed in zip(configs, seeds, strict=True)
    )
    if any(one.config.compiled_for != first.config.compiled_for for one in others):
        raise ValueError("the settings differ in more than numbers that are data")
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), first, *others)
    return dataclasses.replace(stacked, positions=first.positions)


def training_steps(
    learner: Learner,
    key: KeyData,
    state: RunState | None = None,
    *,
    stop: Callable[[], bool] = lambda: False,
    times: TimeSpans | None = None,
    layout: Layout = _ALONE,
) -> Iterator[RunStep]:
    """Train one agent or many, yielding after each chunk and each evaluation.

    `key` is the run's, as its data, `(S, 2)` uint32. Without a `state` the run starts
    from scratch. From a state of `run_state` or of a step it continues: the steps are
    bit for bit those of the uninterrupted run, and the memory of a state on the device
    is taken. The agents are evaluated before the first update, every `eval_every`
    updates and after the last, exactly if the game is enumerable; the random numbers of
    evaluations are independent of training's. The run ends early once `stop()` is true.
    The same key gives the same bits on the same machine and versions. `times` records
    compilation, training and evaluation.

    Raises:
        SettingError: the devices can't share the games.
        MemoryError: the device has less free memory than the run needs.
        FloatingPointError: a loss, a gradient or a weight of the one agent is no longer
            finite. Of many, the others continue.
    """
    times = times or TimeSpans()
    config = learner.config
    if not layout.many:
        meshes.check_even_split(config, layout.mesh)
    learner, key = layout.put_learner(learner, key)
    with times.recording("compile"):
        tree = _prepare(learner, key, layout, starts=state is None)
    if state is None:
        with times.recording("train"):
            first = device.start_program.jitted()(learner, key, layout=layout)
            state = run_state.initial_state(
                first, np.asarray(meshes.gather_arrays(key))
            )
    else:
        state = run_state.put_on_devices(state, layout)
    while True:
        ended = int(state.update) >= config.run.num_updates
        ended = ended or (int(state.evaluated) >= 0 and stop())
        before = int(state.update)
        if _is_evaluation_due(config, state, ended):
            with times.recording("evaluate"):
                step = _evaluate(learner, state, key, tree, layout, stop)
        elif ended:
            return
        else:
            with times.recording("train"):
                step = _run_chunk(learner, state, layout)
        state = step.state
        if state.diverged.any() and not layout.many:
            raise FloatingPointError(run_state.divergence_message(step, before))
        yield step


def _is_evaluation_due(config: Config, state: RunState, ended: bool) -> bool:
    regular = int(state.update) % config.evaluation.eval_every == 0
    return int(state.evaluated) < int(state.update) and (regular or ended)


def _run_chunk(learner: Learner, state: RunState, layout: Layout) -> RunStep:
    """Run a chunk of updates; the memory of `state.train_state` is taken."""
    num_updates = next_chunk_length(learner.config, int(state.update))
    advance = device.advance_program.jitted(quickly=is_short_run(learner.config))
    begin = time.perf_counter()
    after, metrics = advance(
        learner, state.train_state, num_updates=num_updates, layout=layout
    )
    metrics = jax.device_get(jax.block_until_ready(metrics))
    seconds = time.perf_counter() - begin
    state = run_state.after_chunk(state, after, metrics, num_updates, seconds)
    return RunStep(state, metrics, None)


def _evaluate(
    learner: Learner,
    state: RunState,
    key: KeyData,
    tree: Tree | None,
    layout: Layout,
    stop: Callable[[], bool],
) -> RunStep:
    """Evaluate the agents."""
    config = learner.config
    result = jax.device_get(
        grade_on_devices(learner, state.train_state, key, tree, layout)
    )
    if config.finds_counterexamples:
        state, result = _with_counterexamples(config, state, result, layout, stop)
    state = dataclasses.replace(state, evaluated=state.update)
    return RunStep(state, None, result)


def grade_on_devices(
    learner: Learner,
    state: TrainState,
    key: KeyData,
    tree: Tree | None,
    layout: Layout = _ALONE,
    quickly: bool = True,
) -> Evaluation:
    """Return what the device knows of agents: exact with a tree, and a match.

    `quickly` is how the programs are compiled; in a trace it must be False.
    """
    config = learner.config
    exact = sampled = None
    if tree is not None:
        exact = device.grade_program.jitted(quickly)(
            learner.network,
            state.average_params,
            tree,
            layout=layout,
        )
    num_games = config.evaluation.num_games(is_exact=tree is not None)
    if num_games:
        sampled = device.match_program.jitted(quickly)(
            learner.network,
            state.average_params,
            state.update,
            key,
            num_games=num_games,
            layout=layout,
        )
    return Evaluation(exact=exact, sampled=sampled)


def _with_counterexamples(
    config: Config,
    state: RunState,
    result: Evaluation,
    layout: Layout,
    stop: Callable[[], bool],
) -> tuple[RunState, Evaluation]:
    """Look for counterexamples, and add them to the learner's pool.

    Those of the untrained agent are left out: nearly every position is one.
    """
    params = meshes.gather_arrays(state.params)
    rng = np.random.default_rng([*map(int, state.key), int(state.update)])
    searched, keys = counterexamples.find_counterexamples(
        config, params, rng, layout.mesh, stop
    )
    if int(state.update):
        state = run_state.add_to_pool(state, keys, rng)
    return state, result._replace(searched=searched)


def _prepare(
    learner: Learner, key: KeyData, layout: Layout = _ALONE, starts: bool = True
) -> Tree | None:
    """Compile what a run needs in threads, and return the game's tree.

    A run that does not start, but continues, needs no program for its first state. The
    game is enumerated meanwhile. Programs are traced here, one after another:
    concurrent traces don't always give the same program, and a different program is not
    found in JAX's cache.

    Raises:
        MemoryError: the device has less free memory than a program needs.
    """
    config = learner.config
    with ThreadPoolExecutor() as pool:
        start = device.start_program.jitted().trace(learner, key, layout=layout)
        shapes = layout.placed_shapes(start.out_info)
        jobs = []
        if starts:
            jobs.append(pool.submit(devices.compile_and_measure, start.lower()))
        advance = device.advance_program.jitted(quickly=is_short_run(config))
        for num_updates in all_chunk_lengths(config):
            lowered = advance.lower(
                learner, shapes, num_updates=num_updates, layout=layout
            )
            jobs.append(pool.submit(devices.compile_and_measure, lowered))
        tree = trees.game_tree(config.env_id)
        if tree is not None:
            lowered = device.grade_program.jitted().lower(
                learner.network,
                shapes.average_params,
                tree,
                layout=layout,
            )
            jobs.append(pool.submit(devices.compile_and_measure, lowered))
        num_games = config.evaluation.num_games(is_exact=tree is not None)
        if num_games:
            lowered = device.match_program.jitted().lower(
                learner.network,
                shapes.average_params,
                shapes.update,
                key,
                num_games=num_games,
                layout=layout,
            )
            jobs.append(pool.submit(devices.compile_and_measure, lowered))
        needed = max(job.result() for job in jobs)
    # Checked here: what is too large for the system ends the process.
    devices.check_fits(needed, LESS_MEMORY)
    return tree


def agent_memory(config: Config) -> int:
    """Return about how many bytes of device memory one agent needs, on one device."""
    learner, key = make_learner(config, 0), run_key(0)
    start = device.start_program.jitted().lower(learner, key, layout=_ALONE)
    advance = device.advance_program.jitted(quickly=is_short_run(config))
    chunks = [
        advance.lower(learner, start.out_info, num_updates=num_updates, layout=_ALONE)
        for num_updates in all_chunk_lengths(config)
    ]
    return max(map(devices.compile_and_measure, [start, *chunks]))


def all_chunk_lengths(config: Config) -> list[int]:
    """Return all lengths that `next_chunk_length` returns during a run, the longest first."""
    every, end = config.evaluation.eval_every, config.run.num_updates
    spans = {min(every, end), end % every}  # between evaluations
    most = longest_chunk(config)
    lengths = {most for n in spans if n >= most} | {n % most for n in spans}
    return sorted(lengths - {0}, reverse=True)


def next_chunk_length(config: Config, update: int) -> int:
    """Return the number of updates of the next chunk."""
    to_evaluation = config.evaluation.eval_every - update % config.evaluation.eval_every
    return min(longest_chunk(config), to_evaluation, config.run.num_updates - update)


def longest_chunk(config: Config) -> int:
    """Return the most updates in one call: fewer than `CHUNK` if an update is large."""
    replay = config.replay
    rows = config.run.num_envs + replay.replay_batch * bool(replay.replay_capacity)
    # Two operations a product; the backward pass has twice as many as the forward one.
    work = 6 * _products(config) * rows
    return int(min(max(_CHUNK_WORK // max(work, 1), 1), CHUNK))


def _products(config: Config) -> int:
    """Return about how many products of weights and inputs a board takes."""
    sides, sizes = GAMES[config.env_id].shape, config.network.hidden_sizes
    patches = math.prod(max(side - PATCH_SIDE + 1, 1) for side in sides)
    convolved = config.network.filters * patches
    pairs = zip((convolved or 64, *sizes), sizes, strict=False)
    return 2 * PATCH_SIDE**2 * convolved + sum(map(math.prod, pairs))


def is_short_run(config: Config) -> bool:
    """Return whether a run is too short for full optimization to pay off."""
    return config.run.num_updates * config.run.num_envs <= _LONG


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if the setting `first_move` is an illegal first move."""
    if config.opponent.first_move is None:
        return
    start = pgx_games.init(pgx_games.make_env(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.opponent.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.opponent.first_move)


def make_opponent(config: Config, seed: int) -> Opponent | None:
    """Return the opponent that the agent trains against; None in self-play.

    Raises:
        PlayerError: the opponent is unknown.
    """
    if config.opponent.is_self:
        return None
    spec = names.read_name(config.opponent.opponent, config.env_id)
    own = layout.stream_keys(jnp.asarray(run_key(seed))).opponent
    return Versus(
        env_id=config.env_id,
        num_envs=config.run.num_envs,
        seat=config.opponent.seat,
        first_move=config.opponent.first_move,
        player=registry.make_player(spec, config.env_id, own).choose,
    )
