"""The host-side training loop: chunks of updates, and evaluations between them.

A run is a batch of `S` agents that differ in seeds and hyperparameters; of one agent,
`S` is 1.

Axes: `S` agents (in `solver`, `S` are seats).
"""

import contextlib
import dataclasses
import functools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np
from flax import nnx
from jax.sharding import Mesh
from jaxtyping import UInt32, UInt64

from jax_ttt.config.errors import AgentError, SettingError
from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.settings import COUNTEREXAMPLES, NO_AGENT, Config
from jax_ttt.dqn import metrics as training_metrics
from jax_ttt.dqn import start_positions
from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.files.checkpoint import LatestCheckpoint
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.training_opponents import Opponent, Versus
from jax_ttt.games.tree import Tree
from jax_ttt.grading import counterexamples
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.players import registry
from jax_ttt.players.registry import AgentPlayer
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import devices, distributed, pytrees, standard_streams
from jax_ttt.runtime import mesh as meshes
from jax_ttt.training import chunks, run_state
from jax_ttt.training.chunks import KeyData
from jax_ttt.training.run_state import RunState, RunStep

LESS_MEMORY = (
    "lower --num-envs, --hidden-size, --filters, --replay-capacity, --eval-games, or "
    "--at-once of a sweep"
)
"""The advice to a user whose run needs more memory than the device has."""
TreeT = TypeVar("TreeT")
_stream_keys = jax.jit(chunks.stream_keys)
_only_agent = jax.jit(chunks.only_agent)


def make_learner(configs: Sequence[Config], seeds: Sequence[int]) -> Learner:
    """Return the learner of a batch of agents, one for each of the settings and seeds.

    An opponent that draws random numbers before its games gets those of the first seed
    (see `registry.PlayerSpec.draws_before_games`).

    Raises:
        Refused: the opponent is unknown.
        SettingError: the first move is illegal in this game.
        ValueError: the settings differ in more than traced numbers.
    """
    # PGX builds arrays when a game is imported. Within a program that devices share,
    # they would belong to its mesh, and no other mesh could use them.
    pgx_games.make_env(configs[0].env_id)
    check_first_move(configs[0])
    return Learner.of_agents(configs, make_opponent(configs[0], seeds[0]))


def make_opponent(config: Config, seed: int) -> Opponent | None:
    """Return the opponent that the agent trains against; None in self-play.

    Raises:
        Refused: the opponent is unknown, of another game, or a program.
    """
    spec = registry.read_opponent(config.opponent)
    if spec is None:
        return None
    (key,) = chunks.run_keys([seed])
    opponent_key = _stream_keys(key).opponent
    return Versus(
        env_id=config.env_id,
        num_envs=config.num_envs,
        seat=config.seat,
        first_move=config.first_move,
        player=registry.training_opponent(spec, config.env_id, opponent_key),
    )


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if the setting `first_move` is an illegal first move."""
    if config.first_move is None:
        return
    start = pgx_games.init(pgx_games.make_env(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.first_move)


class _Start(NamedTuple):
    """What the settings `start_agent` and `start_positions` name; None for neither."""

    params: nnx.State | None
    """Weights of the first state."""
    positions: UInt64[np.ndarray, " C"] | None
    """Numbers of the positions in the pool."""


def _read_start(learner: Learner) -> _Start:
    """Read the files that the settings name for the first state.

    Raises:
        AgentError: a file does not hold a usable agent of this game.
        SettingError: the weights are those of another network, or the agent for the
            pool has no corrections.
    """
    settings = learner.config
    params = None
    positions = None
    if settings.start_agent != NO_AGENT:
        agent = _start_agent(settings.start_agent, settings.env_id)
        is_same = agent.config.architecture == learner.config.architecture
        if not is_same:
            rule = "an agent with the same network"
            raise SettingError("start_agent", rule, settings.start_agent)
        if agent.precision != "float32":
            rule = "an agent of float32: a network of integers can't be trained"
            raise SettingError("start_agent", rule, settings.start_agent)
        if agent.corrections is not None:
            rule = "the training begins with its weights, without its corrections"
            standard_streams.print_stderr(f"note: {settings.start_agent}: {rule}")
        params = agent.params
    if settings.start_share and settings.start_positions != COUNTEREXAMPLES:
        agent = _start_agent(settings.start_positions, settings.env_id)
        corrections = agent.corrections
        if corrections is None:
            rule = "an agent with corrections"
            raise SettingError("start_positions", rule, settings.start_positions)
        positions = corrections.keys
    return _Start(params, positions)


def _with_start(env_id: EnvId, first: TrainState, start: _Start) -> TrainState:
    """Return the first state with the weights and the pool that the settings name."""
    if start.params is not None:
        first = dataclasses.replace(
            first,
            params=_repeated(start.params, like=first.params),
            target_params=_repeated(start.params, like=first.params),
            average_params=_repeated(start.params, like=first.params),
        )
    if start.positions is not None:
        pool = start_positions.add_positions(
            pool=start_positions.empty_pool(env_id),
            numbers=start.positions,
            rng=np.random.default_rng(0),
        )
        first = dataclasses.replace(first, pool=_repeated(pool, like=first.pool))
    return first


def _start_agent(name: str, env_id: EnvId) -> Agent:
    """Return the saved agent of a setting, whose action values are finite."""
    spec = registry.read_start_agent(name)
    player = registry.make_player(spec, env_id, jax.random.key(0))
    assert isinstance(player, AgentPlayer)  # as it is a saved agent
    return player.agent


def _repeated(tree: TreeT, like: TreeT) -> TreeT:
    """Return one agent's arrays, repeated for each of the agents of `like`."""
    return jax.tree.map(
        lambda leaf, other: jax.device_put(np.broadcast_to(leaf, other.shape)),
        tree,
        like,
    )


def restore_state(
    latest: LatestCheckpoint, learner: Learner, keys: np.ndarray
) -> RunState:
    """Return the state of a checkpoint, with the learner's arrays on the device.

    Raises:
        AgentError: its leaves do not fit a run with these settings.
    """
    started = chunks.start_program.jitted().trace(learner, keys, mesh=None).out_info
    shapes = run_state.initial_state(started, keys)
    try:
        state = pytrees.with_leaves(shapes, latest.tensors)
    except ValueError as error:
        rule = f"not a state of such a run: {error}"
        raise AgentError(f"{latest.path}: {rule}") from None
    return dataclasses.replace(state, train_state=jax.device_put(state.train_state))


def training_steps(
    learner: Learner,
    keys: UInt32[np.ndarray, "S words"],
    state: RunState | None = None,
    *,
    stop: Callable[[], bool] = lambda: False,
    prove: Callable[[RunStep], RunStep] | None = None,
    mesh: Mesh | None = None,
) -> Iterator[RunStep]:
    """Train a batch of agents, yielding after each row of metrics and each evaluation.

    Where updates take long, it also yields within a row, about every half second.

    `keys` are the data of the agents' keys. Without a `state` the run starts from
    scratch. With a state, restored or of a step, it continues as if it had not been
    interrupted. On the devices of a mesh, the agents are split if there are several,
    and so are the positions of a search.

    On a CPU, with the same key, machine, versions and number of threads, an agent that
    trains alone has the same bits, also if its run continues. On a GPU, or among
    others, they may differ.

    The agents are evaluated before the first update, every `eval_every` updates and
    after the last, exactly if the game is enumerable. Evaluations draw random numbers
    of their own, so they don't change the training. `prove` may add the results of a
    search to the last evaluation of an agent that trains alone. The run ends early once
    `stop()` is true.

    Raises:
        MemoryError: the device has less free memory than the run needs.
        FloatingPointError: a loss, a gradient or a weight of the one agent is no longer
            finite. Of many, the others continue.
    """
    config, num_agents = learner.config, len(keys)
    agents_mesh = mesh if num_agents > 1 else None
    no_metrics = training_metrics.no_updates((num_agents,))
    learner, device_keys, no_metrics = _put_on_devices(
        (learner, keys, no_metrics), agents_mesh
    )
    # Read before a program is compiled, since a file may not fit.
    named = _read_start(learner) if state is None else _Start(None, None)
    start, advance = chunks.start_program.jitted(), chunks.chunk_program.jitted()
    # Programs are traced in this thread, one after another, since concurrent traces
    # don't always give the same program, and a different program is not found in JAX's
    # cache. They are compiled in threads, while the game's tree is enumerated.
    pool = ThreadPoolExecutor()
    with contextlib.ExitStack() as stack:
        # After an error or a second Ctrl-C, nothing waits for programs.
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        measure = functools.partial(pool.submit, devices.compile_and_measure)
        started = start.trace(learner, device_keys, mesh=agents_mesh)
        shapes = _placed(started.out_info, agents_mesh)
        # Only a new run needs the program of the first state.
        sizes = [measure(started.lower())] if state is None else []
        program = advance.lower(learner, shapes, 1, no_metrics, mesh=agents_mesh)
        sizes.append(measure(program))
        tree = trees.game_tree(config.env_id)
        grading = _evaluation_results(
            learner,
            shapes,
            device_keys,
            tree,
            agents_mesh,
            use=lambda program: program.lower,
        )
        sizes += [measure(program) for program in grading.values()]
        num_bytes = max(size.result() for size in sizes)
        num_bytes += _num_bytes(shapes) // meshes.num_devices(agents_mesh)
    # Checked before the first call: a program that is too large for the system would
    # end the process. A second chunk in flight holds one state more than its program.
    devices.check_fits(num_bytes, LESS_MEMORY)
    if state is None:
        first = start(learner, device_keys, mesh=agents_mesh)
        first = _with_start(config.env_id, first, named)
        state = run_state.initial_state(first, keys)
        del first, named  # else their memory would be held during the run

    num_updates, eval_every = config.num_updates, config.eval_every
    at_most = 1  # updates in a chunk, by the clock
    while True:
        ended = state.update >= num_updates
        # `stop()` waits for the first evaluation: an agent is saved with a grade.
        ended = ended or (state.evaluated >= 0 and stop())
        is_regular = state.update % eval_every == 0
        # An update is evaluated once; the untrained agent, of update 0, is too.
        if state.evaluated < state.update and (is_regular or ended):
            results = grade_on_devices(
                learner, state.train_state, device_keys, tree, agents_mesh
            )
            results = jax.device_get(meshes.gather_arrays(results))
            step = _evaluate(learner, state, results, mesh, stop)
            if ended and prove is not None:
                step = prove(step)
            state = step.state
            yield step
            continue
        if ended:
            return
        next_evaluation = state.update - state.update % eval_every + eval_every
        end = min(next_evaluation, num_updates)
        newest = _Chunk(
            state.train_state,
            metrics=_put_on_devices(state.metrics, agents_mesh),
            update=state.update,
            is_row=False,
        )
        in_flight: deque[_Chunk] = deque()
        begin, waited = time.perf_counter(), 0.0
        while in_flight or newest.update < end:
            # Two chunks at most are in flight, so that the device does not wait while
            # the host reads and writes the metrics of the first.
            while len(in_flight) < 2 and newest.update < end:
                row_end = chunks.row_end(config, newest.update)
                length = min(at_most, row_end - newest.update)
                train_state, metrics = advance(
                    learner,
                    newest.train_state,
                    length,
                    no_metrics if newest.is_row else newest.metrics,
                    mesh=agents_mesh,
                )
                update = newest.update + length
                newest = _Chunk(train_state, metrics, update, is_row=update == row_end)
                in_flight.append(newest)
            chunk = in_flight.popleft()
            metrics = jax.device_get(meshes.gather_arrays(chunk.metrics))
            begin, seconds = time.perf_counter(), time.perf_counter() - begin
            # The clocks of several processes differ, but all must do the same.
            slowest = distributed.max_over_processes(round(1000 * seconds)) / 1000
            at_most = chunks.updates_in_time(chunk.update - state.update, slowest)
            waited += slowest
            state = run_state.after_chunk(
                state, chunk.train_state, metrics, chunk.update, seconds, chunk.is_row
            )
            step = RunStep(state, metrics, None, chunk.is_row)
            if num_agents == 1 and state.diverged.any():
                raise FloatingPointError(run_state.divergence_message(step))
            if chunk.is_row or waited > chunks.CALL_SECONDS or stop():
                waited = 0.0
                yield step
            # The time of whoever reads the steps is not of training, but for the chunk
            # that the device computed meanwhile.
            begin = max(begin, time.perf_counter() - seconds)
            if in_flight and stop():
                break


class _Chunk(NamedTuple):
    """A chunk that was given to the device."""

    train_state: TrainState  # after it
    metrics: Metrics  # of its row so far
    update: int  # updates done after it
    is_row: bool  # whether it ends a row


def _put_on_devices(arrays: TreeT, mesh: Mesh | None) -> TreeT:
    """Return the agents' arrays on the devices, and on each device what all share."""
    if mesh is None:
        return jax.device_put(arrays)
    whole, split = meshes.replicated_sharding(mesh), meshes.split_sharding(mesh)
    are_own = chunks.has_axis(arrays)
    shardings = jax.tree.map(lambda is_own: split if is_own else whole, are_own)
    return meshes.put_on_devices(arrays, shardings)


def _placed(shapes: TrainState, mesh: Mesh | None) -> TrainState:
    """Return the shapes of a state's leaves with their shardings.

    A program that is compiled for these shapes takes such a state as it is.
    """
    sharding = None if mesh is None else meshes.split_sharding(mesh)
    return jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
        shapes,
    )


def _num_bytes(shapes: TrainState) -> int:
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))


def _evaluation_results(
    learner: Learner,
    train_state: TrainState,
    keys: KeyData,
    tree: Tree | None,
    mesh: Mesh | None,
    use: Callable[[jax.stages.Wrapped], Callable[..., Any]],
) -> dict[str, Any]:
    """Return what the programs of an evaluation give, by the fields of an `Evaluation`.

    `use` returns a program itself, or its method `lower`, which takes the arrays'
    shapes as well.
    """
    network, params = learner.network, train_state.average_params
    results = {}
    if tree is not None:
        grade = use(chunks.grade_program.jitted())
        results["exact"] = grade(network, params, tree, mesh=mesh)
    num_games = learner.config.num_eval_games(is_exact=tree is not None)
    if num_games:
        play = use(chunks.match_program.jitted())
        results["sampled"] = play(
            network,
            params,
            train_state.update,
            keys,
            num_games=num_games,
            mesh=mesh,
        )
    return results


def grade_on_devices(
    learner: Learner,
    train_state: TrainState,
    keys: KeyData,
    tree: Tree | None,
    mesh: Mesh | None = None,
) -> Evaluation:
    """Return the results of the averaged weights that the device computes.

    They are exact if there is a tree; by the settings there is also a match against
    random. Arrays have an axis of agents.
    """
    results = _evaluation_results(
        learner, train_state, keys, tree, mesh, use=lambda program: program
    )
    return Evaluation(exact=results.get("exact"), sampled=results.get("sampled"))


def _evaluate(
    learner: Learner,
    state: RunState,
    result: Evaluation,
    mesh: Mesh | None,
    stop: Callable[[], bool],
) -> RunStep:
    """Return an evaluation's step, with counterexamples if the settings say so.

    Their positions are added to the pool of starts, but for those of the untrained
    agent: nearly every position is one. The random numbers follow from the agent's key
    and the update, so that a run that continues draws the same ones.
    """
    config = learner.config
    if config.finds_counterexamples:
        (key,) = state.keys
        rng = np.random.default_rng([*map(int, key), state.update])
        params = _only_agent(state.train_state.average_params)
        searched, positions = counterexamples.find_counterexamples(
            config, params, rng, mesh, stop
        )
        result = result._replace(searched=searched)
        if state.update:
            state = run_state.add_to_pool(state, positions, rng)
    state = dataclasses.replace(state, evaluated=state.counts.update)
    return RunStep(state, None, result)
