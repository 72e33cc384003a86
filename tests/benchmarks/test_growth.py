"""Agents per minute, and both ways to train many agents."""

import functools

import numpy as np
import pytest

from jax_ttt.benchmarks import (
    growth,
)
from jax_ttt.config.presets import PRESETS


def test_agents_a_minute_are_those_of_the_best_number_of_seeds(growth_figures):
    config = PRESETS["default"].replace(num_updates=600)
    seeds = growth_figures["num_seeds"]
    found = growth.agents_a_minute(config, seeds)
    assert found["one_run"]["median"] == pytest.approx(1.2)
    loop, vmap = found["agents_a_minute_loop"], found["agents_a_minute_vmap"]
    assert (loop["num_seeds"], loop["median"]) == (1, pytest.approx(50))
    assert (vmap["num_seeds"], vmap["median"]) == (4, pytest.approx(200))


@pytest.mark.slow
def test_both_ways_of_training_many_train_the_same(small, monkeypatch):
    monkeypatch.setattr(growth, "SEED_UPDATES", 3)
    loop = growth.one_by_one(small, 2)()
    together = growth.together(small, 2)()
    for agent, state in enumerate(loop):
        assert state["update"] == 3
        close = functools.partial(np.testing.assert_allclose, atol=1e-5)
        for name, leaf in state.items():
            if name.startswith("params."):
                close(leaf, together[name][agent])
