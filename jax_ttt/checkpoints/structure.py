"""The state of a run from a checkpoint, whose leaves are checked."""

import dataclasses

import jax
import numpy as np

from jax_ttt.checkpoints.saved import Found
from jax_ttt.dqn.learner import Learner
from jax_ttt.envs import tree as trees
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import evaluation
from jax_ttt.results.tensor_files import AgentError
from jax_ttt.runtime import pytrees
from jax_ttt.training import device, loop, run_state
from jax_ttt.training.run_state import RunState


def restored(found: Found, learner: Learner, key: np.ndarray) -> RunState:
    """Return the state of a checkpoint, whose leaves are checked.

    Raises:
        AgentError: they are not those of a run with these settings.
    """
    tree = trees.game_tree(learner.config.env_id)
    like = like_state(learner, key, tree)
    tensors = found.checkpoint.tensors
    if wrong := misfit(like, tensors):
        raise AgentError(f"{found.path}: not a state of such a run: {wrong}")
    return pytrees.with_leaves(like, tensors)


def like_state(learner: Learner, key: np.ndarray, tree: Tree | None) -> RunState:
    """Return a state with the leaves of a run after an evaluation: shapes and zeros.

    The run's own functions make it, so a new field of a state is in it too.
    """
    shapes = jax.eval_shape(
        lambda: device.start.jitted(quickly=False)(learner, key, layout=device.Layout())
    )
    zeros = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes.average_params)
    state = run_state.initial_state(
        dataclasses.replace(shapes, average_params=zeros), key
    )
    result = jax.eval_shape(
        lambda: loop.grades(learner, state.train_state, key, tree, quickly=False)
    )
    result = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), result)
    if learner.config.finds_counterexamples:
        result = result._replace(reached=evaluation.reached_bytes({}))
    criteria = evaluation.criteria(result, learner.config.opponent.seat)
    return run_state.after_evaluation(state, result, criteria)


def misfit(like: RunState, tensors: dict[str, np.ndarray]) -> str:
    """Return how leaves by name differ from those of a state; empty if they fit."""
    expected = pytrees.leaves_by_name(like)
    for name in sorted(expected.keys() | tensors.keys()):
        if name not in tensors:
            return f"{name} is missing"
        if name not in expected:
            return f"it has no {name}"
        leaf, tensor = expected[name], tensors[name]
        if (leaf.dtype, leaf.shape) != (tensor.dtype, tensor.shape):
            return (
                f"{name} is {tensor.dtype} {tensor.shape}, "
                f"not {leaf.dtype} {leaf.shape}"
            )
    return ""
