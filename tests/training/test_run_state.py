"""The state of a run: a run continues from it."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import tiny

from jax_ttt.dqn.learner import TrainState
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.runtime import pytrees
from jax_ttt.training import loop, run_state
from jax_ttt.training.run_state import run_key

LEARNER = loop.make_learner(tiny.CONFIG, 1)
KEY = run_key(1)


def host(state):
    """Return the leaves by name, without the seconds, which differ between runs."""
    return {n: x for n, x in run_state.copy_to_host(state).items() if n != "seconds"}


def same(a, b):
    """Return whether leaves by name are the same to the bit."""
    return a.keys() == b.keys() and all(
        a[name].dtype == b[name].dtype and a[name].tobytes() == b[name].tobytes()
        for name in a
    )


def test_a_state_on_the_host_does_not_change_with_the_run():
    run = loop.training_steps(LEARNER, KEY)
    first = host(next(run).state)
    before = {name: leaf.tobytes() for name, leaf in first.items()}
    *_, last = run
    assert {name: leaf.tobytes() for name, leaf in first.items()} == before
    assert not same(host(last.state), first)


def test_a_run_continues_from_the_leaves_of_any_step_bit_for_bit():
    steps = []
    for step in loop.training_steps(LEARNER, KEY):
        steps.append((step.state, run_state.copy_to_host(step.state)))
    *_, (_, end) = steps
    for like, leaves in steps[:-1]:
        state = pytrees.with_leaves(like, leaves)
        *_, last = loop.training_steps(LEARNER, KEY, state)
        expected = {n: x for n, x in end.items() if n != "seconds"}
        assert same(host(last.state), expected)


def learned(**given: Any) -> TrainState:
    """Return a learner's state of these leaves only."""
    leaves: Any = {field.name: None for field in dataclasses.fields(TrainState)}
    return TrainState(**(leaves | given))


NONE: Any = learned()
"""What stands for a learner's state, where nothing reads it."""


def chunk(loss=0.5, grad_norm=1.0, finite_weights=True, count=0):
    """Return the metrics of a chunk with this many games, wins, losses and moves."""
    names = ("games", "wins", "losses", "env_steps")
    found: Any = dict.fromkeys(Metrics._fields, np.float32(1))
    found |= dict.fromkeys(names, np.int32(count))
    found |= {"loss": np.float32(loss), "grad_norm": np.float32(grad_norm)}
    found["finite_weights"] = np.array(finite_weights)
    return Metrics(**found)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("loss", np.nan), ("loss", np.inf)),
        *(("grad_norm", np.nan), ("grad_norm", np.inf)),
        ("finite_weights", False),
    ],
)
def test_a_run_has_diverged_if_a_value_was_not_finite_once(name, value):
    state = run_state.initial_state(NONE, np.zeros(2, np.uint32))
    for metrics, diverged in ((chunk(), False), (chunk(**{name: value}), True)):
        state = run_state.after_chunk(state, NONE, metrics, 10, 0.25)
        assert bool(state.diverged) == diverged
    assert run_state.after_chunk(state, NONE, chunk(), 10, 0.25).diverged
