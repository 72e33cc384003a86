"""The host-side training loop: chunks of updates, and evaluations between them.

Axes: `S` agents that train at once; the axis is absent for a single agent.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.config.errors import SettingError
from jax_ttt.config.hyper import Hyper
from jax_ttt.config.settings import Config
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.proving import counterexamples
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.scaling import device_memory, mesh
from jax_ttt.training import chunks, divergence, programs, run_state
from jax_ttt.training.keys import keys, run_key
from jax_ttt.training.programs import Programs
from jax_ttt.training.run_state import Progress, RunState

if TYPE_CHECKING:
    from jax_ttt.envs.opponents import Opponent

LESS_MEMORY = (
    "lower --num-envs, --hidden-size, --filters, --replay-capacity or --eval-games"
)


def train_from_scratch(
    config: Config,
    seed: int,
    tree: Tree | None,
    stop: Callable[[], bool] = lambda: False,
    opponent: "Opponent | None" = None,
    times: TimeSpans | None = None,
) -> Iterator[Progress]:
    """Train from scratch, yielding after each chunk and each evaluation.

    The agent is evaluated before the first update, every `eval_every` updates and after
    the last. The run ends early once `stop()` is true. Evaluations are exact if a tree
    is given; their random numbers are independent of training's. The same seed gives
    the same bits on the same machine and versions. `opponent` is by default that of the
    settings. `times` records compilation, training and evaluation.

    Raises:
        PlayerError: the opponent is unknown.
        SettingError: the first move is illegal in this game.
        MemoryError: the device has less free memory than the run needs.
        FloatingPointError: a loss, a gradient or a weight is no longer finite.
    """
    key = run_key(seed)
    return _run(_fixed(config, key, tree, opponent), key, stop, times)


def compile_ahead(
    config: Config, seed: int, opponent: "Opponent | None", times: TimeSpans
) -> None:
    """Start to compile what `train_from_scratch` needs before its first evaluation.

    It returns before compilation ends, so the game can be enumerated meanwhile.
    """
    args = run_key(seed), programs.hyper_arrays(config), opponent
    with times.recording("compile"):
        Programs(config).compile_training(chunks.lengths(config), *args)


def continue_training(
    config: Config,
    state: RunState,
    tree: Tree | None,
    stop: Callable[[], bool] = lambda: False,
    opponent: "Opponent | None" = None,
    times: TimeSpans | None = None,
) -> Iterator[Progress]:
    """Continue training from a state of `run_state.on_host` or of a step.

    The steps are bit for bit those of the uninterrupted run; otherwise the function is
    like `train_from_scratch`. The learner of a state on the device is donated.
    """
    state = run_state.on_device(state)
    return _run(_fixed(config, state.key, tree, opponent), state, stop, times)


def _fixed(
    config: Config, key: np.ndarray, tree: Tree | None, opponent: "Opponent | None"
) -> "_Fixed":
    mesh.check_shares(config)
    check_first_move(config)
    if opponent is None:
        opponent = _opponent(config, key)
    return _Fixed(config, programs.hyper_arrays(config), opponent, tree)


def train_at_once(
    configs: Sequence[Config],
    seeds: Sequence[int],
    tree: Tree | None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Progress]:
    """Train several agents at once, in one vmapped program.

    Each agent has its own seed and settings, which may differ only in the numbers of
    `Hyper`. An agent is not bit for bit that of `train_from_scratch`.
    """
    check_first_move(configs[0])
    if len({config.static for config in configs}) > 1:
        raise ValueError("the agents may differ only in settings that are data")
    made = [make_opponent(*pair) for pair in zip(configs, seeds, strict=True)]
    opponents = None
    if made[0] is not None:
        opponents = jax.tree.map(lambda *leaves: jnp.stack(leaves), *made)
    rows = map(programs.hyper_arrays, configs)
    hyper = jax.tree.map(lambda *leaves: np.stack(leaves), *rows)
    own_keys = np.stack([run_key(seed) for seed in seeds])
    fixed = _Fixed(configs[0], hyper, opponents, tree, many=True)
    return _run(fixed, own_keys, stop, None)


class _Fixed(NamedTuple):
    """The inputs of a run, which never change."""

    config: Config
    hyper: Hyper
    opponent: Any  # an Opponent; None in self-play
    tree: Tree | None
    many: bool = False

    def programs(self, key: np.ndarray) -> Programs:
        """Return the compiled programs of the run with this key."""
        made = Programs(self.config, self.many)
        args = key, self.hyper, self.opponent, self.tree
        compiled = made.prepare(chunks.lengths(self.config), *args)
        # Checked here: what is too large for the system ends the process.
        device_memory.check_fits(compiled, LESS_MEMORY)
        return made


def _run(
    fixed: _Fixed,
    state: RunState | np.ndarray,
    stop: Callable[[], bool],
    times: TimeSpans | None,
) -> Iterator[Progress]:
    """Continue from a state, or start the run with this key."""
    times = times or TimeSpans()
    key = state.key if isinstance(state, RunState) else state
    with times.recording("compile"):
        program = fixed.programs(key)
    if not isinstance(state, RunState):
        with times.recording("train"):
            learner = program.start(key, fixed.hyper, fixed.opponent)
            state = run_state.fresh(learner, key)
    while True:
        ended = int(state.update) >= fixed.config.run.num_updates
        ended = ended or (int(state.evaluated) >= 0 and stop())
        if _due(fixed.config, state, ended):
            with times.recording("evaluate"):
                step = _evaluated(fixed, program, state, stop)
        elif ended:
            return
        else:
            with times.recording("train"):
                step = _learned(fixed, program, state)
        before, state = int(state.update), step.state
        if state.diverged.any() and not fixed.many:  # of many, the others continue
            raise FloatingPointError(divergence.reason(step, before))
        yield step


def _due(config: Config, state: RunState, ended: bool) -> bool:
    """Return whether an evaluation is next."""
    regular = int(state.update) % config.evaluation.eval_every == 0
    return int(state.evaluated) < int(state.update) and (regular or ended)


def _evaluated(
    fixed: _Fixed, program: Programs, state: RunState, stop: Callable[[], bool]
) -> Progress:
    """Evaluate the agents and update the best parameters of each."""
    update, config = state.learner["update"], fixed.config
    result = program.evaluate(state.params, update, state.key, fixed.tree)
    result = jax.device_get(result)
    if config.finds_counterexamples:
        state, result = _searched(config, state, result, stop)
    criteria = evaluation.criteria(result, config.opponent.seat)
    state = run_state.after_evaluation(state, result, *criteria)
    return Progress(state, None, result)


def _searched(
    config: Config, state: RunState, result: Evaluation, stop: Callable[[], bool]
) -> tuple[RunState, Evaluation]:
    """Look for counterexamples, and add them to the learner's pool.

    Those of the untrained agent are left out: nearly every position is one.
    """
    params = mesh.gathered(state.params)
    rng = np.random.default_rng([*map(int, state.key), int(state.update)])
    found, keys = counterexamples.of_round(config, params, rng, stop)
    if int(state.update):
        state = run_state.with_pool(state, keys, rng)
    return state, result._replace(reached=evaluation.reached_bytes(found))


def _learned(fixed: _Fixed, program: Programs, state: RunState) -> Progress:
    """Run a chunk of updates; the learner of `state` is donated."""
    length = chunks.length(fixed.config, int(state.update))
    begin = time.perf_counter()
    args = (length, state.learner, fixed.hyper, fixed.opponent)
    learner, metrics = program.updates(*args)
    metrics = jax.device_get(jax.block_until_ready(metrics))
    seconds = time.perf_counter() - begin
    state = run_state.after_chunk(state, learner, metrics, length, seconds)
    return Progress(state, metrics, None)


def size(config: Config, tree: Tree | None) -> int:
    """Return about how many bytes of device memory one agent needs."""
    opponent = make_opponent(config, 0)
    args = run_key(0), programs.hyper_arrays(config), opponent, tree
    made = Programs(config).prepare(chunks.lengths(config), *args)
    return max(map(device_memory.num_bytes, made))


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if the setting `first_move` is an illegal first move."""
    if config.opponent.first_move is None:
        return
    from jax_ttt.envs import pgx_games

    start = pgx_games.init(pgx_games.make_env(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.opponent.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.opponent.first_move)


def make_opponent(config: Config, seed: int) -> "Opponent | None":
    """Return the opponent that the agent trains against; None in self-play.

    Raises:
        PlayerError: the opponent is unknown.
    """
    return _opponent(config, run_key(seed))


def _opponent(config: Config, key: np.ndarray) -> "Opponent | None":
    """Return the opponent of the run with this key."""
    if config.opponent.is_self:
        return None
    from jax_ttt.envs.opponents import Versus
    from jax_ttt.players import names, registry

    spec = names.read_name(config.opponent.opponent, config.env_id)
    own = keys(jax.random.wrap_key_data(jnp.array(key))).opponent
    return Versus(spec.name, registry.enter(spec, config.env_id, own).player)
