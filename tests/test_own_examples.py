"""The examples of own learners and networks: proven, and continued bit for bit."""

import signal
from pathlib import Path
from typing import Any

import commands
import pytest
import quick
from same_runs import assert_same_run

import jax_ttt

TRAIN = commands.module_of("train")
FOLDER = Path(__file__).parents[1] / "docs" / "examples"
FIELDS: dict[str, Any] = {
    "n_step": {"steps": 3},
    "dueling": {},
    "policy_gradient": {"num_updates": 1500},
}
"""The examples, with the settings with which they are proven in tic-tac-toe."""

pytestmark = pytest.mark.slow


def path_of(name):
    """Return the path of an example."""
    return str(FOLDER / f"{name}.py")


@pytest.mark.parametrize("name", FIELDS)
def test_the_agents_of_an_example_are_proven(name):
    with quick.optimized():
        runs = jax_ttt.train_many([1, 2], learner=path_of(name), **FIELDS[name])
    assert runs.num_proven == 2
    for run in runs:
        assert jax_ttt.prove(run.agent).unbeatable is True


@pytest.mark.parametrize("name", FIELDS)
def test_a_run_of_an_example_continues_bit_for_bit(name, tmp_path):
    learner = ["--learner", path_of(name)]
    words = [*learner, "--num-updates", "30", "--eval-every", "10", "--run-dir"]
    stop = commands.at_step(2, lambda: signal.raise_signal(signal.SIGINT))
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    assert commands.run(TRAIN, [*words, str(cut)], on_step=stop) == 130
    assert commands.run(TRAIN, ["--resume", str(cut), *learner]) == 0
    assert commands.run(TRAIN, [*words, str(whole)]) == 0
    assert_same_run(cut, whole)
