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
def test_the_agents_of_an_example_are_proven(name):
    with quick.optimized():
        runs = jax_ttt.train_many(
            [1, 2], learner=str(FOLDER / f"{name}.py"), **FIELDS[name]
        )
    assert runs.num_proven == 2
    for run in runs:
        assert jax_ttt.prove(run.agent).unbeatable is True
