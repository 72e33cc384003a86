"""The host-side training loop: chunks of updates, and evaluations between them.

Axes: `S` agents that train at once (in `solver`, `S` are seats); the axis is absent for
a single agent.
"""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.training_opponents import Opponent, Versus
from jax_ttt.games.tree import Tree
from jax_ttt.grading import counterexamples
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.players import player_names, registry
from jax_ttt.runtime import devices
from jax_ttt.runtime import mesh as meshes
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.training import chunk_lengths, programs, run_state
from jax_ttt.training.layout import KeyData, Layout, run_key, stream_keys
from jax_ttt.training.run_state import RunState, RunStep

LESS_MEMORY = (
    "lower --num-envs, --hidden-size, --filters, --replay-capacity or --eval-games"
)
"""The advice to a user whose run needs more memory than the device has."""
_ONE_AGENT = Layout()
"""The layout of one agent on one device."""


def make_learner(config: Config, seed: int) -> Learner:
    """Return the learner of the run with this seed, and its opponent.

    Raises:
        PlayerError: the opponent is unknown.
        SettingError: the first move is illegal in this game.
    """
    check_first_move(config)
    return Learner.of(config, make_opponent(config, seed))


def make_learners(configs: Sequence[Config], seeds: Sequence[int]) -> Learner:
    """Return the learner of many agents.

    Its hyperparameters and its opponents have a first axis `S`; the positions of a
    table are the same for all agents, so they have none.

    Raises:
        ValueError: the settings differ in more than the hyperparameters in `Hyper`.
    """
    first, *others = (
        make_learner(config, seed) for config, seed in zip(configs, seeds, strict=True)
    )
    compiled_for = first.config.compiled_for
    if any(other.config.compiled_for != compiled_for for other in others):
        raise ValueError("the settings differ in more than numbers that are data")
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), first, *others)
    return dataclasses.replace(stacked, positions=first.positions)


def make_opponent(config: Config, seed: int) -> Opponent | None:
    """Return the opponent that the agent trains against; None in self-play.

    Raises:
        PlayerError: the opponent is unknown, of another game, or a program.
    """
    if config.opponent.is_self:
        return None
    player_names.check_opponent(config.opponent.opponent, config.env_id)
    spec = player_names.read_name(config.opponent.opponent, config.env_id)
    opponent_key = stream_keys(run_key(seed)).opponent
    return Versus(
        env_id=config.env_id,
        num_envs=config.run.num_envs,
        seat=config.opponent.seat,
        first_move=config.opponent.first_move,
        player=registry.make_player(spec, config.env_id, opponent_key).choose,
    )


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if the setting `first_move` is an illegal first move."""
    if config.opponent.first_move is None:
        return
    start = pgx_games.init(pgx_games.make_env(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.opponent.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.opponent.first_move)


def training_steps(
    learner: Learner,
    key: KeyData,
    state: RunState | None = None,
    *,
    stop: Callable[[], bool] = lambda: False,
    times: TimeSpans | None = None,
    layout: Layout = _ONE_AGENT,
) -> Iterator[RunStep]:
    """Train one agent or many, yielding after each chunk and each evaluation.

    `key` is the data of the run's key, `(S, 2)` uint32. Without a `state` the run
    starts from scratch. With a state, restored or of a step, it continues as if it had
    not been interrupted. The next chunk reuses the memory of a state's arrays (JAX
    calls them donated), so don't use a state after the next step.

    On a CPU, with the same key, machine, versions and number of threads, the results
    are the same bits, also of a run that continues. On a GPU they may differ.

    The agents are evaluated before the first update, every `eval_every` updates and
    after the last, exactly if the game is enumerable. Evaluations draw random numbers
    of their own, so they don't change the training. The run ends early once `stop()` is
    true. `times` records compilation, training and evaluation.

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
        tree = _compile_and_enumerate(learner, key, layout, is_new=state is None)
    if state is None:
        with times.recording("train"):
            first = programs.start_program.jitted()(learner, key, layout=layout)
            state = run_state.initial_state(
                first, np.asarray(meshes.gather_arrays(key))
            )
    else:
        state = run_state.put_state_on_devices(state, layout)
    while True:
        ended = int(state.update) >= config.run.num_updates
        # `evaluated` is the update of the last evaluation, -1 before the first one.
        # `stop()` waits for that one: the run's agent is saved with a grade.
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
    """Return whether to evaluate now: by the schedule, or since the run ends here.

    An update is evaluated once. The untrained agent, of update 0, is evaluated too,
    since `evaluated` is -1 until then.
    """
    regular = int(state.update) % config.evaluation.eval_every == 0
    return int(state.evaluated) < int(state.update) and (regular or ended)


def _run_chunk(learner: Learner, state: RunState, layout: Layout) -> RunStep:
    """Run a chunk of updates. Its buffers are donated: don't use `state` afterwards."""
    num_updates = chunk_lengths.next_chunk_length(learner.config, int(state.update))
    advance = programs.advance_program.jitted(
        quickly=chunk_lengths.is_short_run(learner.config)
    )
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
    """Evaluate the agents, and look for counterexamples if the settings say so."""
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
    train_state: TrainState,
    key: KeyData,
    tree: Tree | None,
    layout: Layout = _ONE_AGENT,
    quickly: bool = True,
) -> Evaluation:
    """Return the results of the averaged weights that the device computes.

    They are exact if there is a tree; by the settings there is also a match against
    random. With `quickly` the programs are compiled with fewer optimizations. It must
    be False if the caller is itself traced by JAX, since compiler options belong to the
    outermost program only.
    """
    config = learner.config
    exact = sampled = None
    if tree is not None:
        exact = programs.grade_program.jitted(quickly)(
            learner.network,
            train_state.average_params,
            tree,
            layout=layout,
        )
    num_games = config.evaluation.num_games(is_exact=tree is not None)
    if num_games:
        sampled = programs.match_program.jitted(quickly)(
            learner.network,
            train_state.average_params,
            train_state.update,
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
    """Search for counterexamples, and add their positions to the pool of starts.

    Those of the untrained agent are not added: nearly every position is one. The random
    numbers follow from the run's key and the update, so that a run that continues draws
    the same ones.
    """
    params = meshes.gather_arrays(state.params)  # the averaged weights, as graded
    rng = np.random.default_rng([*map(int, state.key), int(state.update)])
    searched, keys = counterexamples.find_counterexamples(
        config, params, rng, layout.mesh, stop
    )
    if int(state.update):
        state = run_state.add_to_pool(state, keys, rng)
    return state, result._replace(searched=searched)


def _compile_and_enumerate(
    learner: Learner, key: KeyData, layout: Layout, is_new: bool
) -> Tree | None:
    """Compile a run's programs in threads; meanwhile enumerate and return its tree.

    Only a new run needs the program of the first state. Programs are traced in this
    thread, one after another: concurrent traces don't always give the same program, and
    a different program is not found in JAX's cache.

    Raises:
        MemoryError: the device has less free memory than a program needs.
    """
    config = learner.config
    with ThreadPoolExecutor() as pool:
        compilations = []

        def compile_in_thread(program: jax.stages.Lowered) -> None:
            compilations.append(pool.submit(devices.compile_and_measure, program))

        start = programs.start_program.jitted().trace(learner, key, layout=layout)
        shapes = layout.placed_shapes(start.out_info)
        if is_new:
            compile_in_thread(start.lower())
        advance = programs.advance_program.jitted(
            quickly=chunk_lengths.is_short_run(config)
        )
        for num_updates in chunk_lengths.all_chunk_lengths(config):
            compile_in_thread(
                advance.lower(learner, shapes, num_updates=num_updates, layout=layout)
            )
        tree = trees.game_tree(config.env_id)
        if tree is not None:
            grade = programs.grade_program.jitted()
            compile_in_thread(
                grade.lower(learner.network, shapes.average_params, tree, layout=layout)
            )
        num_games = config.evaluation.num_games(is_exact=tree is not None)
        if num_games:
            match = programs.match_program.jitted()
            compile_in_thread(
                match.lower(
                    learner.network,
                    shapes.average_params,
                    shapes.update,
                    key,
                    num_games=num_games,
                    layout=layout,
                )
            )
        num_bytes = max(compilation.result() for compilation in compilations)
    # Checked before the first call: a program that is too large for the system would
    # end the process.
    devices.check_fits(num_bytes, LESS_MEMORY)
    return tree


def agent_memory(config: Config) -> int:
    """Return about how many bytes of device memory one agent needs, on one device."""
    learner, key = make_learner(config, 0), run_key(0)
    start = programs.start_program.jitted().lower(learner, key, layout=_ONE_AGENT)
    advance = programs.advance_program.jitted(
        quickly=chunk_lengths.is_short_run(config)
    )
    chunks = [
        advance.lower(
            learner, start.out_info, num_updates=num_updates, layout=_ONE_AGENT
        )
        for num_updates in chunk_lengths.all_chunk_lengths(config)
    ]
    return max(map(devices.compile_and_measure, [start, *chunks]))
