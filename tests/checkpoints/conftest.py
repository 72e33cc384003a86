"""A checkpoint of a small run, shared by the tests of this folder."""

import pytest
import tiny

from jax_ttt.checkpoints.contents import Checkpoint, Plan, Positions
from jax_ttt.checkpoints.environment import environment
from jax_ttt.runtime import named_arrays
from jax_ttt.training import loop, run_state


@pytest.fixture(scope="session")
def state(tree):
    """Return the state of a small run after its first chunk."""
    run = loop.train_from_scratch(tiny.CONFIG, 3, tree)
    next(run)
    return run_state.on_host(next(run).state)


@pytest.fixture(scope="session")
def checkpoint(state):
    """Return a checkpoint of that run."""
    return Checkpoint(
        plan=Plan(config=tiny.CONFIG, preset="default", seed=3, snapshots=True),
        update=2,
        finished=None,
        positions=Positions(metrics=9, evaluations=1, loggers={}, console={"best": 1}),
        times={"seconds": {"train": 0.5}, "total": 1.5},
        environment=environment(),
        tensors=named_arrays.flat(state),
    )
