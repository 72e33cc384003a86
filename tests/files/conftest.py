"""What the tests of files share: a checkpoint of a small run, an agent's file."""

import dataclasses

import made
import pytest
import tiny

from jax_ttt.files.checkpoint import Checkpoint
from jax_ttt.files.run_folder import Plan
from jax_ttt.training import agent_batch, loop, run_start, run_state

GRADE = dataclasses.replace(
    made.exact((0.5,), (0.25,)), sampled=made.sampled((0.5,), (0.25,))
)


PLAN = Plan(config=tiny.CONFIG, preset="default", seed=3, snapshots=True)


@pytest.fixture(scope="session")
def tensors():
    """Return the state of a small run after its first chunk."""
    learner = run_start.make_learner([tiny.CONFIG], [3])
    state = run_start.first_state(learner, agent_batch.run_keys([3]))
    run = loop.training_steps(learner, state)
    next(run)
    return run_state.copy_to_host(next(run).state)


@pytest.fixture(scope="session")
def saved():
    """Return the description of a small run after its first chunk."""
    return Checkpoint(
        settings=PLAN.settings_checksum(),
        num_updates=PLAN.config.num_updates,
        update=2,
        evaluated=0,
        grade=GRADE,
        finished=None,
    )
