"""A run's programs: cached for the next process, which then traces nothing."""

import contextlib
import importlib

import jax
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn.finished_games import finished_game
from jax_ttt.envs.opponents import Versus
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.runtime import kept_files
from jax_ttt.training import loop, programs
from jax_ttt.training.keys import run_key
from jax_ttt.training.programs import Programs, hyper_arrays

CONFIG = Config.of(num_envs=8, hidden_size=8, num_updates=4, eval_every=4, eval_games=8)


@contextlib.contextmanager
def kept_in(files):
    """Keep files in this dictionary."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_files, "keeps", lambda: True)
        patch.setattr(kept_files, "read", files.get)
        patch.setattr(kept_files, "keep", files.__setitem__)
        programs._compiling.cache_clear()
        yield
        programs._compiling.cache_clear()


@pytest.fixture
def store():
    """Keep files in a dictionary, and return it."""
    files = {}
    with kept_in(files):
        yield files


def trained(tree, seeds=(1,)):
    if len(seeds) > 1:
        *_, last = loop.train_at_once([CONFIG] * len(seeds), seeds, tree)
    else:
        *_, last = loop.train_from_scratch(CONFIG, seeds[0], tree)
    return jax.tree.map(np.array, (last.state.learner, last.state.last))


@pytest.fixture(scope="module")
def first_run(tree):
    """Return the result of a run that found nothing, and the files that it kept."""
    files = {}
    with kept_in(files):
        return trained(tree), files


@pytest.fixture
def after_run(first_run):
    """Keep files in a dictionary that begins with those of the run; return it."""
    files = dict(first_run[1])
    with kept_in(files):
        yield files


def assert_traces_nothing(tree, seeds, first, files, monkeypatch):
    assert len(files) == 4
    programs._compiling.cache_clear()
    monkeypatch.setattr(importlib, "import_module", None)  # tracing would fail
    second = trained(tree, seeds)
    assert jax.tree.structure(first) == jax.tree.structure(second)
    pairs = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    assert all((a == b).all() for a, b in pairs)
    assert len(files) == 4


def test_a_run_of_kept_programs_traces_nothing_and_is_the_same(
    tree, first_run, after_run, monkeypatch
):
    assert_traces_nothing(tree, (1,), first_run[0], after_run, monkeypatch)


@pytest.mark.slow
def test_so_does_a_run_of_many_agents(tree, store, monkeypatch):
    first = trained(tree, (1, 2))
    assert_traces_nothing(tree, (1, 2), first, store, monkeypatch)


@pytest.mark.parametrize(
    ("eval_games", "is_exact", "names", "num_games"),
    [
        (None, True, ["grade_agent"], None),
        (None, False, ["sample_games"], 1024),
        (8, True, ["grade_agent", "sample_games"], 8),
        (0, False, [], None),
    ],
)
def test_a_match_is_by_default_played_only_where_no_result_is_exact(
    eval_games, is_exact, names, num_games, tree, monkeypatch
):
    called = {}

    def call(self, name, static, *args):
        called[name] = static[-1]
        return Evaluation(None, None, None)

    monkeypatch.setattr(Programs, "_call", call)
    run = Programs(CONFIG.replace(eval_games=eval_games))
    run.evaluate({}, 0, None, tree if is_exact else None)
    assert list(called) == names
    assert called.get("sample_games") == num_games


def test_numbers_that_are_data_and_seeds_share_programs(tree, after_run):
    count = len(after_run)
    list(loop.train_from_scratch(CONFIG.replace(tau=0.5), 2, tree))
    assert len(after_run) == count


def test_a_program_with_an_opponents_own_functions_is_not_kept(store):
    config = CONFIG.replace(opponent="random")
    opponent = loop.make_opponent(config, 1)
    assert isinstance(opponent, Versus)
    Programs(config).start(run_key(1), hyper_arrays(config), opponent)
    assert not store


@pytest.mark.slow
def test_games_of_any_length_share_one_kept_program(store):
    made, hyper = Programs(CONFIG), hyper_arrays(CONFIG)
    state = made.start(run_key(1), hyper)
    short = finished_game(CONFIG.env_id, [0, 3, 1, 4, 2], 0)
    longer = finished_game(CONFIG.env_id, [4, 0, 2, 6, 3, 5, 1, 7, 8], 1)
    state = made.learn_game(state, hyper, short)
    made.learn_game(state, hyper_arrays(CONFIG.replace(tau=0.5)), longer)
    assert len(store) == 2  # the start, and learning from a game
