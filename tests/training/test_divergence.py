"""What is said of a run that diverged."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.dqn.metrics import Metrics
from jax_ttt.training import loop, run_state
from jax_ttt.training.run_state import RunStep, run_key


def step(loss=0.5, grad_norm=1.0, losses=50, grads=50, weights=()):
    """Return a step after the chunk of updates 51 to 100."""
    values: Any = (loss, grad_norm, *[0] * 8, losses, grads, not weights)
    metrics = Metrics(*values)
    names = ("layers.0.kernel", "layers.0.bias", "layers.1.kernel")
    params = {name: np.full(3, np.nan if name in weights else 1.0) for name in names}
    learner = SimpleNamespace(params=params)
    state = SimpleNamespace(train_state=learner, update=np.int64(100))
    return RunStep(state, metrics, None)  # type: ignore[arg-type]


NAN = float("nan")


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (step(NAN, losses=6), "the loss is not finite at update 57"),
        (step(NAN, NAN, 6, 5), "the gradient is not finite at update 56"),
        (step(NAN, NAN, 6, 6), "the loss is not finite at update 57"),
        (step(grad_norm=NAN), "the gradient is not finite by update 100"),
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
def test_the_first_update_and_the_weights_are_named(found, text):
    advice = "; try a lower learning rate"
    assert (
        run_state.divergence_message(found, 50) == f"training diverged: {text}{advice}"
    )


@pytest.mark.fault
def test_a_run_ends_in_the_chunk_in_which_it_diverges():
    learner, key = loop.make_learner(tiny.CONFIG, 1), run_key(1)
    first = next(loop.training_steps(learner, key)).state
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
        list(loop.training_steps(learner, key, state))
    assert str(error.value).startswith(
        "training diverged: the loss is not finite at update 1; not finite weights "
        "after update 2: layers.layers.2.bias and 2 other arrays; try a lower"
    )
