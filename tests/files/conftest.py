"""What the tests of files share: a checkpoint of a small run, an agent's file."""

import dataclasses

import made
import numpy as np
import pytest
import tiny

from jax_ttt.files.agent_file import AgentDescription, AgentFile
from jax_ttt.files.checkpoint import Checkpoint, Plan
from jax_ttt.players import saved_agents
from jax_ttt.training import chunks, loop, run_state

GRADE = dataclasses.replace(
    made.exact((0.5,), (0.25,)), sampled=made.sampled((0.5,), (0.25,))
)


@pytest.fixture(scope="session")
def tensors():
    """Return the state of a small run after its first chunk."""
    learner = loop.make_learner([tiny.CONFIG], [3])
    run = loop.training_steps(learner, chunks.run_keys([3]))
    next(run)
    return run_state.copy_to_host(next(run).state)


@pytest.fixture(scope="session")
def saved():
    """Return the description of a small run after its first chunk."""
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
    )


@pytest.fixture(scope="session")
def agent():
    """Return what the file of an untrained agent holds."""
    params = tiny.untrained(tiny.CONFIG).params
    tensors = {
        name: np.array(x) for name, x in saved_agents.params_as_tensors(params).items()
    }
    description = AgentDescription(
        config=tiny.CONFIG, seed=3, num_updates=2, grade=GRADE
    )
    return AgentFile(description, tensors)
