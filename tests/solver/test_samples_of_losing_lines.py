"""Samples of the levels past those of a search, against all positions there."""

import numpy as np
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.players import registry
from jax_ttt.solver import losing_lines, reach
from jax_ttt.solver.reach import Reach
from jax_ttt.solver.successors import SearchedPlayer

ENV = "connect_4x4"


@pytest.fixture(scope="module")
def subject():
    """Return an untrained agent that moves second."""
    agent = tiny.untrained(Config.of(env_id=ENV, hidden_size=8, eval_games=0))
    player = registry.agent_player("agent", agent).choose
    return SearchedPlayer(
        env_id=ENV, choose=player, seat="second", merge_symmetric=False, batch=64
    )


def searched(subject, max_positions):
    found = Reach(subject)
    reach.follow_all_lines(found, max_positions)
    return found


@pytest.fixture(scope="module")
def cut(subject):
    """Return a search that 100 positions ended."""
    return searched(subject, 100)


@pytest.fixture(scope="module")
def deeper(subject, cut):
    """Return all levels after those that the search expanded."""
    return searched(subject, 10**9).keys[cut.num_expanded :]


def sample(cut, num_positions, seed=0, *on_batch):
    """Return the sample that this seed draws, from where the search was cut."""
    rng = np.random.default_rng(seed)
    first = cut.num_expanded, cut.keys[-1]
    return losing_lines.sample_levels(cut.player, *first, num_positions, rng, *on_batch)


@pytest.mark.slow
def test_a_large_sample_has_all_positions(cut, deeper):
    levels = sample(cut, 10**9)
    assert len(levels) == len(deeper) > 5
    for level, keys in zip(levels, deeper, strict=True):
        np.testing.assert_array_equal(level, keys)


@pytest.mark.slow
def test_a_sample_has_positions_of_each_level_in_order(cut, deeper):
    levels = sample(cut, 30)
    assert len(levels) > len(deeper) // 2
    for level, keys in zip(levels, deeper, strict=False):
        assert len(level) <= 30
        assert (np.diff(level.astype(np.int64)) > 0).all()
        assert set(level) <= set(keys)
    assert len(levels[0]) == 30 < len(deeper[0])


def test_the_generator_decides_what_is_drawn(cut):
    first, again, other = (sample(cut, 30, seed) for seed in (0, 0, 1))
    assert all(map(np.array_equal, first, again))
    assert not np.array_equal(first[0], other[0])
