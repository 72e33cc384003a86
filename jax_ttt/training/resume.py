"""The state of a run from a checkpoint, whose leaves are checked."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.dqn.learner import Learner
from jax_ttt.files.checkpoint import LatestCheckpoint
from jax_ttt.files.tensor_file import AgentError
from jax_ttt.runtime import pytrees
from jax_ttt.training import run_state
from jax_ttt.training.run_state import RunState


def restored(latest: LatestCheckpoint, learner: Learner, key: np.ndarray) -> RunState:
    """Return the state of a checkpoint.

    Raises:
        AgentError: its leaves are not those of a run with these settings.
    """
    like = state_shapes(learner, key)
    tensors = latest.checkpoint.tensors
    if wrong := misfit(like, tensors):
        raise AgentError(f"{latest.path}: not a state of such a run: {wrong}")
    return pytrees.with_leaves(like, tensors)


def state_shapes(learner: Learner, key: np.ndarray) -> RunState:
    """Return a run's state with shapes in place of the arrays of training."""
    shapes = jax.eval_shape(learner.init, jax.random.wrap_key_data(jnp.asarray(key)))
    return run_state.initial_state(shapes, key)


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
