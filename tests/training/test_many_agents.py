"""Many agents: each is the agent of a run alone."""

import dataclasses
import itertools
from types import SimpleNamespace
from typing import Any

import jax
import made
import numpy as np
import pytest
from quick import compiled

from jax_ttt.config.settings import Config, Hyper
from jax_ttt.grading import agent_groups
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.runtime import distributed
from jax_ttt.training import loop, many_agents, run_state
from jax_ttt.training.layout import Layout, run_key
from jax_ttt.training.many_agents import Job

CONFIG = Config.of(
    num_envs=16, hidden_size=8, num_updates=6, eval_every=6, eval_games=0
)


def alone(config, seed, state=None):
    """Return a run of one agent."""
    return loop.training_steps(loop.make_learner(config, seed), run_key(seed), state)


def at_once(configs, seeds, state=None):
    """Return a run of many agents."""
    keys = np.stack([run_key(seed) for seed in seeds])
    learner = loop.make_learners(configs, seeds)
    return loop.training_steps(learner, keys, state, layout=Layout(many=True))


def leaves_after(run):
    """Return the leaves of the parameters at the end of a run."""
    *_, last = run
    return [np.asarray(leaf) for leaf in jax.tree.leaves(last.params)]


def test_settings_that_are_data_share_one_program():
    leaves_after(alone(CONFIG, 1))
    with compiled() as steps:
        leaves_after(alone(CONFIG.replace(learning_rate=1e-2, tau=0.5, gamma=0.9), 2))
    assert steps == []


def test_each_hyperparameter_reaches_the_learner():
    """An agent with another value of one of them is another agent."""
    base = CONFIG.replace(
        **{"num_updates": 12, "eval_every": 12, "weight_decay": 0.01},
        **{"epsilon_schedule": "exponential", "epsilon_end": 0.1},
    )
    value = {"learning_rate": 1e-2, "learning_rate_end": 1e-3, "epsilon_decay": 0.9}
    others = [base.replace(**{name: value.get(name, 0.3)}) for name in Hyper._fields]
    configs = [base, base, *others]
    leaves = leaves_after(at_once(configs, [1] * len(configs)))
    is_same = [
        all((leaf[i] == leaf[0]).all() for leaf in leaves) for i in range(len(configs))
    ]
    assert is_same == [True, True, *[False] * len(others)]


@pytest.mark.slow
def test_an_agent_of_many_in_turn_is_the_agent_of_a_run_alone():
    config = CONFIG.replace(eval_every=4)
    rows = list(many_agents.train_jobs([Job(config, seed) for seed in (4, 5)], 1))
    assert [row.seed for row in rows] == [4, 5]
    assert rows[0].grade != rows[1].grade
    for row in rows:
        *_, last = alone(config, row.seed)
        assert last.evaluation is not None
        assert last.evaluation.exact is not None
        assert row.grade is not None
        assert row.grade.first is not None
        win_rate = float(last.evaluation.exact.report.first.random.win_rate)
        assert (row.grade.first.win_rate, row.games) == (win_rate, last.games)


@pytest.mark.parametrize(
    "opponent", ["self", pytest.param("mcts:4", marks=pytest.mark.slow)]
)
def test_agents_that_train_at_once_are_those_that_train_alone(opponent):
    """They are equal up to float32 rounding, each with its seed and settings."""
    config = CONFIG.replace(opponent=opponent)
    other = config.replace(learning_rate=1e-2, epsilon_end=0.2)
    configs, seeds = (config, other, config), (4, 4, 5)
    *_, many = at_once(configs, seeds)
    for i, (config, seed) in enumerate(zip(configs, seeds, strict=True)):
        *_, one = alone(config, seed)
        assert many.counts(i).games == one.counts().games
        for all_of_many, single, atol in (
            (many.params, one.params, 1e-5),
            (many.evaluation, one.evaluation, 1e-4),
        ):
            pairs = zip(*map(jax.tree.leaves, (all_of_many, single)), strict=True)
            for leaf, expected in pairs:
                np.testing.assert_allclose(leaf[i], expected, rtol=1e-3, atol=atol)


@pytest.mark.slow
def test_agents_that_train_at_once_continue_bit_for_bit():
    configs, seeds = (CONFIG.replace(eval_every=3),) * 2, (4, 5)
    *_, whole = at_once(configs, seeds)
    expected = run_state.copy_to_host(whole.state)
    half = next(step for step in at_once(configs, seeds) if step.update == 3)
    *_, last = at_once(configs, seeds, half.state)
    end = run_state.copy_to_host(last.state)
    assert end.keys() == expected.keys()
    for name in end.keys() - {"seconds"}:
        np.testing.assert_array_equal(end[name], expected[name], err_msg=name)


def test_agents_whose_settings_need_other_programs_do_not_train_at_once():
    other = CONFIG.replace(hidden_size=9)
    with pytest.raises(ValueError, match="differ in more than numbers that are data"):
        loop.make_learners([CONFIG, other], [1, 2])


@pytest.mark.slow
def test_an_agent_that_diverges_is_named_and_the_others_go_on(monkeypatch):
    real = run_state.initial_state

    def poisoned_state(state, key):
        seeds = key[..., 1]

        def poison(x):
            factor = np.where(seeds == 2, np.float32(np.nan), np.float32(1))
            return x * factor.reshape(seeds.shape + (1,) * (x.ndim - seeds.ndim))

        params = jax.tree.map(poison, state.params)
        return real(dataclasses.replace(state, params=params), key)

    monkeypatch.setattr(run_state, "initial_state", poisoned_state)
    jobs = [Job(CONFIG, seed) for seed in (2, 1)]
    for number in (1, 2):
        rows = list(many_agents.train_jobs(jobs, number))
        assert [row.diverged for row in rows] == [True, False]
        summary = agent_groups.group_summary(rows, CONFIG)
        assert (summary.diverged, summary.not_proven) == ((2,), (2, 1))
    first, *_, last = at_once([CONFIG, CONFIG], [2, 1])
    assert first.diverged.tolist() == [False, False]  # nothing is learned yet
    assert last.diverged.tolist() == [True, False]


@pytest.fixture
def replace_training(monkeypatch):
    """Return a function: from then on, a run takes so many seconds by each step.

    It returns the list of batches, to which the seeds of each run are added.
    """

    def replace(*seconds, diverged=None, error_at=None, mesh=None):
        batches = []

        def steps(learner, key, *, stop, layout):
            del learner, stop
            assert layout.mesh is mesh
            batches.append(key[..., 1].tolist())
            number = len(key) if layout.many else None
            first_update = CONFIG.run.num_updates - len(seconds) + 1
            nothing = Evaluation(exact=None, sampled=None)
            for update, sum_so_far in enumerate(seconds, first_update):
                if sum_so_far == error_at:
                    raise FloatingPointError
                step = made.progress(update, sum_so_far, nothing, number)
                if diverged is not None:
                    state: Any = step.state
                    state.diverged = np.array(diverged)
                yield step

        monkeypatch.setattr(loop, "training_steps", steps)
        return batches

    return replace


def jobs_of(number):
    return [Job(CONFIG, seed) for seed in range(number)]


def test_agents_at_once_share_the_seconds_evenly(replace_training):
    """So their sum is the time of training, however many train at once."""
    replace_training(4.0, 12.0)
    for number, seconds in ((3, [4, 4, 4]), (2, [6, 6, 12]), (1, [12, 12, 12])):
        rows = many_agents.train_jobs(jobs_of(3), number)
        assert [row.seconds for row in rows] == seconds


@pytest.mark.fault
def test_an_agent_that_diverged_is_not_graded(replace_training):
    """Even if the others go on, and its weights are finite."""
    replace_training(1.0, 3.0, diverged=[True, False])
    rows = many_agents.train_jobs(jobs_of(2), 2)
    assert [row.diverged for row in rows] == [True, False]
    replace_training(1.0, 3.0, 12.0, error_at=12.0)
    (row,) = many_agents.train_jobs(jobs_of(1), 1)
    assert (row.games, row.seconds, row.diverged, row.grade) == (7, 3, True, None)


@pytest.fixture
def four_devices(spread):
    """Return the mesh of four devices."""
    return spread(4)


def test_devices_share_each_batch_evenly_and_copies_have_no_row(
    four_devices, replace_training
):
    batches = replace_training(4.0, 12.0, mesh=four_devices)
    rows = [*many_agents.train_jobs(jobs_of(6), 3, mesh=four_devices)]
    assert batches == [[0, 1, 2, 3], [4, 5, 5, 5]]
    assert [(row.seed, row.seconds) for row in rows] == [
        *itertools.product(range(4), [3.0]),
        *itertools.product((4, 5), [6.0]),
    ]


def test_as_many_train_at_once_as_the_memory_of_each_device_holds(
    four_devices, monkeypatch
):
    """As many in each process, though their free memory differs."""
    assert many_agents.agents_that_fit(CONFIG) == 1, "on a CPU, one after another"
    gpu = SimpleNamespace(platform="gpu")
    monkeypatch.setattr(many_agents.devices, "current_device", lambda: gpu)
    monkeypatch.setattr(loop, "agent_memory", lambda config: 1000)
    for free, number in ((None, 100), (14_000, 7), (1, 1), (10**9, 100)):
        monkeypatch.setattr(many_agents.devices, "free_bytes", lambda free=free: free)
        assert many_agents.agents_that_fit(CONFIG, most=100) == number
        fit = many_agents.agents_that_fit(CONFIG, four_devices, most=100)
        assert fit == 4 * number
    monkeypatch.setattr(
        distributed, "max_over_processes", lambda number: max(number, -5)
    )
    assert many_agents.agents_that_fit(CONFIG, four_devices) == 4 * 5


def test_agents_that_look_for_counterexamples_train_alone_and_in_rounds():
    config = Config.of(
        **{"env_id": "connect_4x4", "start_share": 0.5, "hidden_size": 8},
        **{"num_envs": 4, "num_updates": 2, "eval_every": 1, "eval_games": 0},
    )
    assert many_agents.agents_that_fit(config) == 1
    jobs = [Job(config, seed) for seed in (0, 1)]
    rows = list(many_agents.train_jobs(jobs, at_once=2))
    initial_grade = run_state.initial_grade(config)
    *_, (_, grade) = run_state.with_grades(config, alone(config, 1), initial_grade)
    assert [row.update for row in rows] == [2, 2]
    assert rows[1].grade == grade != rows[0].grade
