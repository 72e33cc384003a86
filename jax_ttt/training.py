"""One training run, seen from the host: chunks and evaluations, one after another."""

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.tree_util import Partial

from jax_ttt import games, learner, names, roster
from jax_ttt.config import Config
from jax_ttt.evaluation import Evaluation, evaluate
from jax_ttt.learner import Metrics, TrainState
from jax_ttt.ranges import SettingError
from jax_ttt.tree import Tree

CHUNK = 50
"""Updates in one call of the compiled program, at most: the host looks in between."""


class Progress(NamedTuple):
    """Where a run stands after a chunk, or at an evaluation; the other is None."""

    state: TrainState  # good until the next step of the run
    update: int
    games: int  # ended since the start
    wins: int  # of the agent against an opponent, of the first player in self-play
    losses: int
    env_steps: int  # moves since the start
    seconds: float  # spent training, without compiling and evaluating
    metrics: Metrics | None
    evaluation: Evaluation | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers; all but `seconds` are the same at each run."""
        row: dict[str, Any] = {
            "event": "evaluation" if self.metrics is None else "chunk",
            "update": self.update,
            "games": self.games,
            "wins": self.wins,
            "losses": self.losses,
            "env_steps": self.env_steps,
            "seconds": round(self.seconds, 4),
        }
        if self.metrics is not None:
            metrics = self.metrics._asdict()
            row |= {k: float(v) for k, v in metrics.items() if k not in row}
        return row


def train(
    config: Config,
    seed: int,
    tree: Tree | None,
    stop: Callable[[], bool] = lambda: False,
    opponent: Partial | None = None,
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
    train_key, eval_key, _ = jax.random.split(jax.random.key(seed), 3)
    check_first_move(config)
    opponent = opponent or make_opponent(config, seed)
    state = learner.init(config, train_key, opponent)
    update = num_games = wins = losses = env_steps = 0
    seconds = 0.0

    def progress(metrics: Metrics | None, result: Evaluation | None) -> Progress:
        counts = (update, num_games, wins, losses, env_steps, seconds)
        return Progress(state, *counts, metrics, result)

    def evaluated() -> Progress:
        key = jax.random.fold_in(eval_key, update)
        return progress(None, jax.device_get(evaluate(config, state.params, key, tree)))

    yield evaluated()
    while update < config.num_updates and not stop():
        to_evaluation = config.eval_every - update % config.eval_every
        length = min(CHUNK, to_evaluation, config.num_updates - update)
        program = compiled(config, length, *shapes(opponent))
        begin = time.perf_counter()
        state, metrics = jax.block_until_ready(program(state, opponent=opponent))
        seconds += time.perf_counter() - begin
        metrics = jax.device_get(metrics)
        update += length
        if not (np.isfinite(metrics.loss) and np.isfinite(metrics.grad_norm)):
            raise FloatingPointError(
                f"training diverged: the loss is not finite by update {update}; "
                "a lower --learning-rate helps"
            )
        num_games += int(metrics.games)
        wins += int(metrics.wins)
        losses += int(metrics.losses)
        env_steps += int(metrics.env_steps)
        yield progress(metrics, None)
        if update % config.eval_every == 0 or update == config.num_updates or stop():
            yield evaluated()


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if no game can open with the move that is asked for."""
    if config.first_move is None:
        return
    start = games.init(games.make(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.first_move)


def make_opponent(config: Config, seed: int) -> Partial | None:
    """Return whom the agent learns against, None for itself.

    Raises:
        PlayerError: there is no such opponent.
    """
    if config.opponent == "self":
        return None
    key = jax.random.split(jax.random.key(seed), 3)[2]  # the third: see `train`
    spec = names.read(config.opponent, config.env_id)
    return roster.enter(spec, config.env_id, key).player


def shapes(opponent: Partial | None) -> tuple[Any, tuple[jax.ShapeDtypeStruct, ...]]:
    """Return all of an opponent but its numbers, as a program's key."""
    leaves, structure = jax.tree.flatten(jax.eval_shape(lambda: opponent))
    return structure, tuple(leaves)


@functools.cache
def compiled(
    config: Config,
    num_updates: int,
    structure: Any,  # noqa: ANN401
    leaves: tuple[jax.ShapeDtypeStruct, ...],
) -> jax.stages.Compiled:
    """Return `train_chunk` compiled for a chunk of this length, once in a process."""
    opponent = jax.tree.unflatten(structure, leaves)
    init = functools.partial(learner.init, config)
    state = jax.eval_shape(init, jax.random.key(0), opponent)
    return learner.train_chunk.lower(
        config, state, num_updates, opponent=opponent
    ).compile()
