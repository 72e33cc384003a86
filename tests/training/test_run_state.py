"""The state of a run tells whether it diverged, and where."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.dqn.metrics import GameCounts, Metrics
from jax_ttt.training import loop, run_start, run_state
from jax_ttt.training.agent_batch import run_keys
from jax_ttt.training.run_state import RunStep

LEARNER = run_start.make_learner([tiny.CONFIG], [1])
KEYS = run_keys([1])
NAN = float("nan")


def chunk_metrics(**changes: Any) -> Metrics:
    """Return the metrics of 50 updates of one agent."""
    fields: Any = dict.fromkeys(Metrics._fields, np.float32(1)) | {
        "updates": 50,
        "finite_losses": 50,
        "finite_grads": 50,
        "finite_weights": True,
    }
    arrays: Any = {name: np.array([x]) for name, x in (fields | changes).items()}
    return Metrics(**arrays | {"counts": GameCounts(*[np.ones(1)] * 4)})


@pytest.mark.parametrize(
    ("name", "value"),
    [("loss", np.nan), ("grad_norm", np.inf), ("finite_weights", False)],
)
def test_a_run_has_diverged_once_a_value_was_not_finite(name, value):
    state = run_start.first_state(LEARNER, KEYS)
    wrong = chunk_metrics(**{name: value})
    diverged = []
    for metrics in (chunk_metrics(), wrong, chunk_metrics()):
        state = run_state.after_chunk(
            state, state.train_state, metrics, update=10, seconds=0.25, is_row=True
        )
        diverged += state.diverged.tolist()
    assert diverged == [False, True, True]


def step(loss=0.5, grad_norm=1.0, losses=50, grads=50, weights=()):
    """Return a step after the chunk of updates 51 to 100."""
    metrics = chunk_metrics(
        loss=loss, grad_norm=grad_norm, finite_losses=losses, finite_grads=grads
    )
    names = ("layers.0.kernel", "layers.0.bias", "layers.1.kernel")
    params = {
        name: np.full((1, 3), np.nan if name in weights else 1.0) for name in names
    }
    learner = SimpleNamespace(params=params)
    state: Any = SimpleNamespace(train_state=learner, update=100)
    return RunStep(state, metrics, None)


@pytest.mark.parametrize(
    ("diverged", "text"),
    [
        (step(NAN, losses=6), "the loss is not finite at update 57"),
        (step(NAN, NAN, 6, 5), "the gradient is not finite at update 56"),
        (step(NAN, NAN, 6, 6), "the loss is not finite at update 57"),
        (
            step(weights=["layers.0.bias"]),
            "not finite weights after update 100: layers.0.bias",
        ),
        (
            step(NAN, losses=0, weights=["layers.0.kernel", "layers.1.kernel"]),
            "the loss is not finite at update 51; not finite weights after update 100: "
            "layers.0.kernel and 1 other array",
        ),
    ],
)
@pytest.mark.fault
def test_a_diverged_run_names_its_first_update_and_weights(diverged, text):
    message = f"training diverged: {text}; try a lower learning rate"
    assert run_state.divergence_message(diverged) == message


@pytest.mark.fault
def test_a_run_ends_in_the_chunk_in_which_it_diverges():
    first = run_start.first_state(LEARNER, KEYS)
    params = jax.tree_util.tree_map_with_path(
        lambda path, leaf: (
            leaf * np.float32(np.nan)
            if jax.tree_util.keystr(path).endswith("[2]['bias'].value")
            else leaf
        ),
        first.train_state.params,
    )
    state = dataclasses.replace(
        first, train_state=dataclasses.replace(first.train_state, params=params)
    )
    with pytest.raises(FloatingPointError) as error:
        list(loop.training_steps(LEARNER, state))
    assert str(error.value).startswith(
        "training diverged: the loss is not finite at update 1; not finite weights "
        "after update 1: layers.layers.2.bias and 2 other arrays; try a lower"
    )
