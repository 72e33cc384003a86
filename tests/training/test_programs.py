"""A run's programs: cached for the next process, which then traces nothing."""

import importlib

import jax
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn.finished_games import finished_game
from jax_ttt.envs.opponents import Versus
from jax_ttt.runtime import kept_files
from jax_ttt.training import loop, programs
from jax_ttt.training.keys import run_key
from jax_ttt.training.programs import Programs, hyper_arrays

CONFIG = Config.of(num_envs=8, hidden_size=8, num_updates=4, eval_every=4, eval_games=8)


@pytest.fixture
def store(monkeypatch):
    """Keep files in a dictionary, and return it."""
    files = {}
    monkeypatch.setattr(kept_files, "read", files.get)
    monkeypatch.setattr(kept_files, "keep", files.__setitem__)
    programs._compiling.cache_clear()
    yield files
    programs._compiling.cache_clear()


def trained(tree, seeds=(1,)):
    if len(seeds) > 1:
        *_, last = loop.train_at_once([CONFIG] * len(seeds), seeds, tree)
    else:
        *_, last = loop.train_from_scratch(CONFIG, seeds[0], tree)
    return jax.tree.map(np.array, (last.state.learner, last.state.last))


@pytest.mark.parametrize("seeds", [(1,), (1, 2)], ids=["one", "many"])
def test_a_run_of_kept_programs_traces_nothing_and_is_the_same(
    tree, store, monkeypatch, seeds
):
    first = trained(tree, seeds)
    assert len(store) == 4
    programs._compiling.cache_clear()
    monkeypatch.setattr(importlib, "import_module", None)  # tracing would fail
    second = trained(tree, seeds)
    assert jax.tree.structure(first) == jax.tree.structure(second)
    pairs = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    assert all((a == b).all() for a, b in pairs)
    assert len(store) == 4


def test_other_settings_have_other_programs(tree, store):
    trained(tree)
    names = set(store)
    other = CONFIG.replace(num_envs=16)
    list(loop.train_from_scratch(other, 1, tree))
    assert len(set(store) - names) == 2  # its start and its updates
    list(loop.train_from_scratch(CONFIG.replace(eval_games=4), 1, tree))
    assert len(set(store) - names) == 5  # both again, and another match


def test_numbers_that_are_data_and_seeds_share_programs(tree, store):
    trained(tree)
    count = len(store)
    list(loop.train_from_scratch(CONFIG.replace(tau=0.5), 2, tree))
    assert len(store) == count


def test_a_program_with_an_opponents_own_functions_is_not_kept(store):
    config = CONFIG.replace(opponent="random")
    opponent = loop.make_opponent(config, 1)
    assert isinstance(opponent, Versus)
    Programs(config).start(run_key(1), hyper_arrays(config), opponent)
    assert not store


def test_games_of_any_length_share_one_kept_program(store):
    made, hyper = Programs(CONFIG), hyper_arrays(CONFIG)
    state = made.start(run_key(1), hyper)
    short = finished_game(CONFIG.env_id, [0, 3, 1, 4, 2], 0)
    longer = finished_game(CONFIG.env_id, [4, 0, 2, 6, 3, 5, 1, 7, 8], 1)
    state = made.learn_game(state, hyper, short)
    made.learn_game(state, hyper_arrays(CONFIG.replace(tau=0.5)), longer)
    assert len(store) == 2  # the start, and learning from a game
