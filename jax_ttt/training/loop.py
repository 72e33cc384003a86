"""Training runs, seen from the host: chunks and evaluations, one after another.

Axes: `S` agents that train at once; where there is one, the axis is absent.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config
from jax_ttt.dqn.learner import Metrics, TrainState
from jax_ttt.dqn.opponents import Opponent, SelfPlay, Versus
from jax_ttt.envs import pgx_games
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.players import names, registry
from jax_ttt.players.network import network_of
from jax_ttt.training import programs
from jax_ttt.training.programs import Programs

CHUNK = 50
"""Updates in one call of the compiled program, at most: the host looks in between."""


class Progress(NamedTuple):
    """Where a run stands after a chunk, or at an evaluation; the other is None."""

    state: TrainState  # good until the next step of the run
    update: int
    games: np.ndarray  # (S,) int64, like the next three: ended since the start
    wins: np.ndarray  # of the agent against an opponent, in self-play of the first
    losses: np.ndarray
    env_steps: np.ndarray  # moves since the start
    diverged: np.ndarray  # (S,) bool: its loss or gradient was not finite
    seconds: float  # spent training all S, without compiling and evaluating
    metrics: Metrics | None
    evaluation: Evaluation | None

    def as_dict(self) -> dict[str, Any]:
        """Return an agent's plain numbers; all but `seconds` are the same each time."""
        row: dict[str, Any] = {
            "event": "evaluation" if self.metrics is None else "chunk",
            "update": self.update,
            **{name: int(getattr(self, name)) for name in _COUNTS},
            "seconds": round(self.seconds, 4),
        }
        if self.metrics is not None:
            metrics = self.metrics._asdict()
            row |= {k: float(v) for k, v in metrics.items() if k not in row}
        return row


_COUNTS = ("games", "wins", "losses", "env_steps")


def train(
    config: Config,
    seed: int,
    tree: Tree | None,
    stop: Callable[[], bool] = lambda: False,
    opponent: Opponent | None = None,
) -> Iterator[Progress]:
    """Train from scratch, yielding after each chunk and at each evaluation.

    Evaluations come before the first update, every `config.eval_every` updates and
    after the last one, which is where `stop()` first holds if it ever does; they are
    exact if a tree is given. Their random numbers are independent of training's. The
    same seed gives the same bits on the same machine and versions. `opponent` is made
    of the settings where it is not given.

    Raises:
        PlayerError: there is no such opponent.
        SettingError: the game has no such first move.
        FloatingPointError: the loss or its gradient is no longer finite.
    """
    check_first_move(config)
    if opponent is None:
        opponent = make_opponent(config, seed)
    outline, numbers = programs.divided(config)
    key = jax.random.key(seed)
    return _train(outline, numbers, key, opponent, tree, stop)


def train_many(
    configs: Sequence[Config],
    seeds: Sequence[int],
    tree: Tree | None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Progress]:
    """Train agents at once, in one vmapped program; like `train` otherwise.

    Each has its settings and its seed. They may differ in the settings that are data,
    `config.DATA`, alone. An agent is not the same to the bit as that of `train`.
    """
    check_first_move(configs[0])
    (outline, *others), rows = zip(*map(programs.divided, configs), strict=True)
    if any(other != outline for other in others):
        raise ValueError("the agents differ in settings that are not data")
    made = [make_opponent(*pair) for pair in zip(configs, seeds, strict=True)]
    opponents = jax.tree.map(lambda *leaves: jnp.stack(leaves), *made)
    numbers = jax.tree.map(lambda *leaves: np.stack(leaves), *rows)
    keys = jax.vmap(jax.random.key)(np.array(seeds, np.uint32))
    return _train(outline, numbers, keys, opponents, tree, stop, many=True)


def _train(
    config: Config,
    numbers: programs.Numbers,
    key: jax.Array,
    opponent: Opponent,
    tree: Tree | None,
    stop: Callable[[], bool],
    many: bool = False,
) -> Iterator[Progress]:
    run = Programs(network_of(config), many)
    run.prepare(_lengths(config), key, opponent, numbers, tree)
    state = run.start(key, opponent)
    update, seconds = 0, 0.0
    totals = dict.fromkeys(_COUNTS, np.zeros(key.shape, np.int64)[()])
    diverged = np.zeros(key.shape, bool)

    def progress(metrics: Metrics | None, result: Evaluation | None) -> Progress:
        return Progress(
            state,
            update,
            **totals,
            diverged=diverged,
            seconds=seconds,
            metrics=metrics,
            evaluation=result,
        )

    def evaluated() -> Progress:
        result = run.grade(state.params, state.update, key, tree)
        return progress(None, jax.device_get(result))

    yield evaluated()
    while update < config.num_updates and not stop():
        length = _length(config, update)
        begin = time.perf_counter()
        state, metrics = run.updates(length, state, opponent, numbers)
        metrics = jax.device_get(jax.block_until_ready(metrics))
        seconds += time.perf_counter() - begin
        update += length
        finite = np.isfinite(metrics.loss) & np.isfinite(metrics.grad_norm)
        diverged = diverged | ~finite
        if not many and diverged:  # of many, the others go on
            raise FloatingPointError(
                f"training diverged: the loss is not finite by update {update}; "
                "a lower --learning-rate helps"
            )
        totals = {name: totals[name] + getattr(metrics, name) for name in _COUNTS}
        yield progress(metrics, None)
        if update % config.eval_every == 0 or update == config.num_updates or stop():
            yield evaluated()


def graded(
    steps: Iterator[Progress],
) -> Iterator[tuple[Progress, dict[str, Any]]]:
    """Yield the steps of an agent's run, each with the summary of its last evaluation.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    summary: dict[str, Any] = {}
    for progress in steps:
        if progress.evaluation is not None:
            summary = evaluation.summary(progress.evaluation)
        yield progress, summary


def row(progress: Progress, summary: dict[str, Any]) -> dict[str, Any]:
    """Return a step as a row of metrics: its numbers, and an evaluation's summary."""
    return progress.as_dict() | ({} if progress.evaluation is None else summary)


def size(config: Config, tree: Tree | None) -> int:
    """Return the bytes of the device's memory that one agent takes, about."""
    outline, numbers = programs.divided(config)
    opponent = make_opponent(config, 0)
    key = jax.random.key(0)
    program = Programs(network_of(outline))
    return program.prepare(_lengths(config), key, opponent, numbers, tree)


def _lengths(config: Config) -> set[int]:
    """Return all lengths that `_length` gives in a run."""
    every, end = config.eval_every, config.num_updates
    spans = {min(every, end), end % every}  # between evaluations
    return ({CHUNK for n in spans if n >= CHUNK} | {n % CHUNK for n in spans}) - {0}


def _length(config: Config, update: int) -> int:
    """Return how many updates come next in one call."""
    to_evaluation = config.eval_every - update % config.eval_every
    return min(CHUNK, to_evaluation, config.num_updates - update)


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if no game can open with the move that is asked for."""
    if config.first_move is None:
        return
    start = pgx_games.init(pgx_games.make(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.first_move)


def make_opponent(config: Config, seed: int) -> Opponent:
    """Return the opponent that the settings name.

    Raises:
        PlayerError: there is no such opponent.
    """
    if config.opponent == SelfPlay.name:
        return SelfPlay()
    key = programs.keys(jax.random.key(seed)).opponent
    spec = names.read(config.opponent, config.env_id)
    return Versus(config.opponent, registry.enter(spec, config.env_id, key).player)
