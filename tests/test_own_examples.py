"""The examples of own learners and networks: they are proven."""

from pathlib import Path
from typing import Any

import pytest
import quick

import jax_ttt

FOLDER = Path(__file__).parents[1] / "docs" / "examples"
FIELDS: dict[str, Any] = {
    "n_step": {"steps": 3},
    "dueling": {},
    "policy_gradient": {"num_updates": 1500},
}
"""The examples, with the settings with which they are proven in tic-tac-toe."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", FIELDS)
def test_an_agent_of_an_example_is_proven(name):
    learner = str(FOLDER / f"{name}.py")
    with quick.optimized():
        run = jax_ttt.train(1, learner=learner, until_proven=True, **FIELDS[name])
    assert jax_ttt.prove(run.agent).unbeatable is True
