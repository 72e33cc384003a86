"""A checkpoint of a small run, shared by the tests of this folder."""

import pytest
import tiny

from jax_ttt.checkpoints.contents import Checkpoint, Plan, Positions
from jax_ttt.checkpoints.environment import environment
from jax_ttt.training import loop, run_state
from jax_ttt.training.run_state import run_key


@pytest.fixture(scope="session")
def checkpoint():
    """Return a checkpoint of a small run after its first chunk."""
    run = loop.train(loop.make_learner(tiny.CONFIG, 3), run_key(3))
    next(run)
    return Checkpoint(
        plan=Plan(config=tiny.CONFIG, preset="default", seed=3, snapshots=True),
        update=2,
        finished=None,
        positions=Positions(metrics=9, evaluations=1, loggers={}, console={"best": 1}),
        times={"seconds": {"train": 0.5}, "total": 1.5},
        environment=environment(),
        tensors=run_state.on_host(next(run).state),
    )
