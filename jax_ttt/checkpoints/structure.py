"""Which leaves the state of a run has, by its settings."""

from typing import Any

import jax
import numpy as np

from jax_ttt.config.settings import Config
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import evaluation
from jax_ttt.runtime import named_arrays
from jax_ttt.training import programs, run_state
from jax_ttt.training.keys import run_key
from jax_ttt.training.programs import Programs
from jax_ttt.training.run_state import RunState


def like_state(config: Config, seed: int, opponent: Any, tree: Tree | None) -> RunState:  # noqa: ANN401
    """Return a state with the leaves of a run after an evaluation, all zeros.

    The run's own functions make it, so a new field of a state is in it too. `opponent`
    is None in self-play.
    """
    key = run_key(seed)
    args = key, programs.hyper_arrays(config), opponent, tree
    shapes = Programs(config).shapes(*args)
    learner, result = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes)
    if config.finds_counterexamples:
        result = result._replace(reached=evaluation.reached_bytes({}))
    criteria = evaluation.criteria(result, config.opponent.seat)
    state = run_state.after_evaluation(run_state.fresh(learner, key), result, *criteria)
    return run_state.on_host(state)


def misfit(like: RunState, tensors: dict[str, np.ndarray]) -> str:
    """Return how leaves by name differ from those of a state; empty if they fit."""
    wanted = {n: (x.dtype, x.shape) for n, x in named_arrays.flat(like).items()}
    found = {name: (x.dtype, x.shape) for name, x in tensors.items()}
    for name in sorted(wanted.keys() | found.keys()):
        if name not in found:
            return f"{name} is missing"
        if name not in wanted:
            return f"it has no {name}"
        if found[name] != wanted[name]:
            (dtype, shape), (other, size) = found[name], wanted[name]
            return f"{name} is {dtype} {shape}, not {other} {size}"
    return ""
