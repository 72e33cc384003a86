"""What the programs of a run and of a sweep exchange."""

import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.simulation import traffic
from jax_ttt.training.keys import run_key

CONFIG = Config.of(num_envs=10, hidden_size=32, num_updates=6, eval_every=6)


@pytest.mark.slow
def test_a_run_adds_up_its_gradient_and_agents_gather_their_metrics(spread):
    spread(4)
    found = traffic.traffic_in_use(CONFIG)
    assert {one.kind for one in found.update} == {"all-reduce"}
    assert {one.kind for one in found.agents} == {"all-gather"}
    weights = 9 * 32 + 32 + 32 * 32 + 32 + 32 * 9 + 9
    numbers = [n for one in found.update for n in one.num_bytes]
    # The metrics are one to four numbers.
    assert sum(n for n in numbers if n > 4 * 4) == 4 * weights
    # A number of each agent, or a truth value.
    assert {n for one in found.agents for n in one.num_bytes} == {16, 4}


def test_one_device_exchanges_nothing():
    assert traffic.traffic_in_use(CONFIG) == ([], [])


def test_agents_at_once_differ_in_their_seed():
    keys, hyper = traffic.arguments_of_many(CONFIG, 3)
    assert np.array_equal(keys[2], run_key(2))
    assert [field.shape for field in hyper] == [(3,)] * len(hyper)
