"""The state of a run: a run continues from it; it holds the best agent."""

import dataclasses
import itertools
from typing import Any

import jax
import numpy as np
import pytest
import tiny
from flax import nnx

from jax_ttt.dqn.learner import TrainState
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.evaluation.evaluation import Criteria, Evaluation
from jax_ttt.runtime import pytrees
from jax_ttt.training import loop, run_state
from jax_ttt.training.run_state import Best, run_key

LEARNER = loop.make_learner(tiny.CONFIG, 1)
KEY = run_key(1)


def host(state):
    """Return the leaves by name, without the seconds, which differ between runs."""
    return {n: x for n, x in run_state.on_host(state).items() if n != "seconds"}


def same(a, b):
    """Return whether leaves by name are the same to the bit."""
    return a.keys() == b.keys() and all(
        a[name].dtype == b[name].dtype and a[name].tobytes() == b[name].tobytes()
        for name in a
    )


def test_a_state_on_the_host_does_not_change_with_the_run():
    run = loop.train(LEARNER, KEY)
    first = host(next(run).state)
    before = {name: leaf.tobytes() for name, leaf in first.items()}
    *_, last = run
    assert {name: leaf.tobytes() for name, leaf in first.items()} == before
    assert not same(host(last.state), first)


def test_a_run_continues_from_the_leaves_of_any_step_bit_for_bit():
    steps = []
    for step in loop.train(LEARNER, KEY):
        steps.append((step.state, run_state.on_host(step.state)))
    *_, (_, end) = steps
    for like, leaves in steps[:-1]:
        state = pytrees.with_leaves(like, leaves)
        *_, last = loop.train(LEARNER, KEY, state)
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


def best(proven, loss_rate, win_rate):
    rates = (np.array(loss_rate), np.array(win_rate))
    return Best(np.array(0), np.array(proven), *rates, NONE)


ORDER = [
    (False, np.nan, np.nan),
    (False, 0.5, 0.4),
    (False, 0.5, 0.5),
    (False, 0.0, 0.1),
    (True, 0.25, 0.0),
    (True, 0.0, 0.1),
    (True, 0.0, 0.9),
]
"""Results of evaluations, each better than those before it."""


def test_proofs_count_before_losses_and_losses_before_wins():
    for (i, a), (j, b) in itertools.product(enumerate(ORDER), repeat=2):
        ahead = run_state.better(best(*a), best(*b))
        assert bool(ahead) == (i >= j)  # of equal results, the later one


def test_each_of_many_is_compared_with_itself():
    ahead = run_state.better(
        best([True, False], [0.0, 0.5], [0.5, 0.5]),
        best([False, False], [0.0, 0.0], [0.9, 0.5]),
    )
    assert ahead.tolist() == [True, False]


NOTHING = Evaluation(None, None, None)


def evaluated(state, weights, *results):
    """Return a state whose agents have these weights, after their evaluation."""
    params = nnx.State({"w": np.array(weights, np.float32)})
    learner = learned(average_params=params)
    state = dataclasses.replace(state, train_state=learner, update=state.update + 1)
    criteria = Criteria(*map(np.array, results))
    return run_state.after_evaluation(state, NOTHING, criteria)


def test_the_best_agent_of_each_is_kept():
    empty = run_state.initial_state(NONE, np.array([[0, 1], [0, 2]], np.uint32))
    first = evaluated(empty, [[1, 1], [2, 2]], [False, False], [0.5, 0.5], [0.1, 0.1])
    assert first.best is not None
    assert first.best.update.tolist() == [1, 1]
    rows = [False, True], [0.75, 0.75], [0.9, 0.9]
    second = evaluated(first, [[3, 3], [4, 4]], *rows)
    assert second.best is not None
    assert second.best.update.tolist() == [1, 2]
    assert second.best.proven.tolist() == [False, True]
    assert second.best.loss_rate.tolist() == [0.5, 0.75]
    (weights,) = jax.tree.leaves(second.best.params)
    assert weights.tolist() == [[1, 1], [4, 4]]
    third = evaluated(second, [[5, 5], [6, 6]], [False] * 2, [1.0] * 2, [0.0] * 2)
    assert third.best is second.best  # nothing is copied
    assert (third.evaluated, second.evaluated) == (3, 2)


def test_a_runs_best_agent_is_that_of_its_best_evaluation():
    """Later chunks donate the learner's arrays, not those of the best agent."""
    found, best = [], None
    learner = loop.make_learner(tiny.CONFIG.replace(num_updates=20), 1)
    for step in loop.train(learner, KEY):
        last, best = best, step.state.best
        if step.evaluation is None:
            assert best is last
        else:
            exact = step.evaluation.exact
            assert exact is not None
            assert exact.first is not None
            assert exact.second is not None
            losses = (exact.first.worst_loss_rate + exact.second.worst_loss_rate) / 2
            wins = (exact.first.random.win_rate + exact.second.random.win_rate) / 2
            weights = [np.array(leaf) for leaf in jax.tree.leaves(step.params)]
            proven = bool(step.evaluation.unbeatable)
            found.append(((proven, -losses, wins, step.update), weights))
    assert best is not None
    (proven, losses, wins, update), weights = max(found, key=lambda row: row[0])
    assert update > 0  # an agent learns
    assert (best.update, best.proven) == (update, proven)
    assert best.loss_rate == pytest.approx(-losses)
    assert best.win_rate == pytest.approx(wins)
    for mine, other in zip(jax.tree.leaves(best.params), weights, strict=True):
        assert isinstance(mine, np.ndarray)
        np.testing.assert_array_equal(mine, other)
