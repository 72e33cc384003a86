"""What the tests of files share: a checkpoint of a small run, an agent's file."""

import dataclasses

import made
import numpy as np
import pytest
import tiny

from jax_ttt.files.agent_file import AgentFile
from jax_ttt.files.checkpoint import Checkpoint, Plan
from jax_ttt.players import saved_agents
from jax_ttt.training import loop, run_state
from jax_ttt.training.layout import run_key

GRADE = dataclasses.replace(
    made.exact((0.5,), (0.25,)), sampled=made.sampled((0.5,), (0.25,))
)


@pytest.fixture(scope="session")
def state():
    """Return a checkpoint of a small run after its first chunk."""
    run = loop.training_steps(loop.make_learner(tiny.CONFIG, 3), run_key(3))
    next(run)
    return Checkpoint(
        plan=Plan(config=tiny.CONFIG, preset="default", seed=3, snapshots=True),
        update=2,
        evaluated=0,
        grade=GRADE,
        best=(False, -3, 0.5),
        finished=None,
        seconds={"train": 0.5},
        total_seconds=1.5,
        environment={"device": {"kind": "abacus"}, "python": "3"},
        tensors=run_state.copy_to_host(next(run).state),
    )


@pytest.fixture(scope="session")
def agent():
    """Return what the file of an untrained agent holds."""
    params = tiny.untrained(tiny.CONFIG).params
    tensors = {
        name: np.array(x) for name, x in saved_agents.params_as_tensors(params).items()
    }
    return AgentFile(
        config=tiny.CONFIG, seed=3, num_updates=2, grade=GRADE, tensors=tensors
    )
