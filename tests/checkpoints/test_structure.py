"""The leaves of a state are those that the settings imply."""

import dataclasses

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.checkpoints import structure
from jax_ttt.config.presets import PRESETS
from jax_ttt.runtime import named_arrays
from jax_ttt.training import loop, run_state

SMALL = {"num_envs": 8, "num_updates": 4, "eval_every": 2}
CONFIGS = {
    "default": tiny.CONFIG,
    "replay": tiny.CONFIG.replace(replay_capacity=64, replay_batch=16, replay_start=32),
    "table": PRESETS["table"].replace(**SMALL),
    "random": PRESETS["plain"].replace(
        **SMALL, hidden_size=8, opponent="random", eval_games=0
    ),
}
FAST = ("replay", "table")


def leaves_of(state):
    flat = named_arrays.flat(run_state.on_host(state))
    return {name: (leaf.dtype, leaf.shape) for name, leaf in flat.items()}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in FAST else pytest.mark.slow)
        for name in CONFIGS
    ],
)
def test_each_state_of_a_run_has_the_same_leaves(name, tree):
    config = CONFIGS[name]
    opponent = loop.make_opponent(config, 3)
    like = structure.like_state(config, 3, opponent, tree)
    wanted = leaves_of(like)
    for step in loop.train_from_scratch(config, 3, tree):
        assert leaves_of(step.state) == wanted
        tensors = named_arrays.flat(run_state.on_host(step.state))
        assert structure.misfit(like, tensors) == ""
        again = named_arrays.unflat(tensors, like)
        assert jax.tree.structure(again) == jax.tree.structure(like)
        assert named_arrays.flat(again).keys() == tensors.keys()


def test_a_new_field_has_its_place_in_the_file(state, tree):
    """Every field of the state is among the leaves, whatever it is named."""
    like = structure.like_state(tiny.CONFIG, 3, None, tree)
    first = {name.partition(".")[0] for name in named_arrays.flat(like)}
    assert first == {field.name for field in dataclasses.fields(run_state.RunState)}
    older = {n: x for n, x in named_arrays.flat(state).items() if n != "wins"}
    assert structure.misfit(like, older) == "wins is missing"


def test_a_state_of_other_sizes_does_not_fit(state, tree):
    config = tiny.CONFIG.replace(hidden_size=16)
    like = structure.like_state(config, 3, None, tree)
    wrong = structure.misfit(like, named_arrays.flat(state))
    assert wrong.startswith("best.params.layers.layers.0.bias is float32 (8,), not ")
    narrow = named_arrays.flat(state) | {"wins": np.zeros((), np.int32)}
    right = structure.like_state(tiny.CONFIG, 3, None, tree)
    assert structure.misfit(right, narrow) == "wins is int32 (), not int64 ()"


def test_a_leaf_that_no_state_has_does_not_fit(state):
    more = named_arrays.flat(state) | {"draws": np.zeros((), np.int64)}
    assert structure.misfit(state, more) == "it has no draws"
