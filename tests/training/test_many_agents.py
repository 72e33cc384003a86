"""Many agents: each is that of a run alone."""

import dataclasses
import itertools
from types import SimpleNamespace

import jax
import made
import numpy as np
import pytest
from quick import compiled

from jax_ttt.config.settings import Config, Hyper
from jax_ttt.dqn.learner import Learner
from jax_ttt.grading import agent_groups
from jax_ttt.grading.evaluation import Evaluation
from jax_ttt.runtime import processes
from jax_ttt.training import loop, many_agents, run_state
from jax_ttt.training.layout import Layout, stream_keys
from jax_ttt.training.many_agents import Job
from jax_ttt.training.run_state import run_key

CONFIG = Config.of(
    num_envs=16, hidden_size=8, num_updates=6, eval_every=6, eval_games=0
)


def params_of(run):
    *_, last = run
    return jax.device_get(last.params)


def alone(config, seed, state=None):
    """Return a run of one agent."""
    return loop.training_steps(loop.make_learner(config, seed), run_key(seed), state)


def at_once(configs, seeds, state=None):
    """Return a run of many agents."""
    keys = np.stack([run_key(seed) for seed in seeds])
    learner = loop.make_learners(configs, seeds)
    return loop.training_steps(learner, keys, state, layout=Layout(many=True))


def leaves(params):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(params)]


def test_settings_that_are_data_share_one_program():
    other = CONFIG.replace(learning_rate=1e-2, tau=0.5, gamma=0.9)
    *_, first = alone(CONFIG, 1)
    with compiled() as steps:
        *_, last = alone(other, 2)
    assert first.update == last.update == CONFIG.run.num_updates
    assert steps == []


@pytest.mark.parametrize("field", Hyper._fields)
def test_each_hyperparameter_reaches_the_learner(field):
    """The same program gives a different agent for a different value."""
    config = CONFIG.replace(
        num_updates=12,
        epsilon_schedule="exponential",
        epsilon_end=0.1,
        weight_decay=0.01,
    )
    value = {"learning_rate": 1e-2, "learning_rate_end": 1e-3, "epsilon_decay": 0.9}
    other = config.replace(**{field: value.get(field, 0.3)})
    agents = [params_of(alone(c, 1)) for c in (config, other)]
    assert any((a != b).any() for a, b in zip(*map(leaves, agents), strict=True))


@pytest.mark.slow
def test_a_number_as_data_does_what_it_does_as_a_constant():
    config = CONFIG.replace(learning_rate=7e-3, tau=0.2, tremble=0.25)
    data = params_of(alone(config, 3))
    learner = Learner.of(config)

    @jax.jit
    def trained(key):
        return learner.chunk(learner.init(key), 6)[0].params

    constant = trained(stream_keys(run_key(3)).training)
    for a, b in zip(leaves(data), leaves(constant), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_an_agent_of_a_loop_is_the_agent_of_a_run_alone():
    config = CONFIG.replace(eval_every=4)
    rows = list(many_agents.train_jobs([Job(config, seed) for seed in (4, 5)], 1))
    for row in rows:
        *_, last = alone(config, row.seed)
        assert last.evaluation is not None
        graded = last.evaluation.exact
        assert graded is not None
        assert row.grade is not None
        assert row.grade.first is not None
        assert row.grade.first.win_rate == float(graded.report.first.random.win_rate)
        assert row.games == last.games
    assert [row.seed for row in rows] == [4, 5]
    assert rows[0].grade != rows[1].grade


@pytest.mark.parametrize(
    "opponent", ["self", pytest.param("mcts:4", marks=pytest.mark.slow)]
)
def test_agents_that_train_at_once_are_those_that_train_alone(opponent):
    """They are equal up to float32 rounding, each with its seed and settings."""
    config = CONFIG.replace(opponent=opponent)
    other = config.replace(learning_rate=1e-2, epsilon_end=0.2)
    configs, seeds = (config, other, config), (4, 4, 5)
    *_, many = at_once(configs, seeds)
    for i, pair in enumerate(zip(configs, seeds, strict=True)):
        *_, one = alone(*pair)
        for a, b in zip(leaves(many.params), leaves(one.params), strict=True):
            np.testing.assert_allclose(a[i], b, rtol=1e-3, atol=1e-5)
        assert many.counts(i).games == one.counts().games
        found = jax.tree.leaves(many.evaluation)
        for a, b in zip(found, jax.tree.leaves(one.evaluation), strict=True):
            np.testing.assert_allclose(a[i], b, atol=1e-4)


@pytest.mark.slow
def test_agents_that_train_at_once_continue_bit_for_bit():
    configs, seeds = (CONFIG.replace(eval_every=3),) * 2, (4, 5)
    states = [run_state.copy_to_host(step.state) for step in at_once(configs, seeds)]
    run = at_once(configs, seeds)
    half = next(step for step in run if step.update == 3)
    assert half.metrics is not None
    *_, last = at_once(configs, seeds, half.state)
    end = run_state.copy_to_host(last.state)
    assert end.keys() == states[-1].keys()
    for name in end.keys() - {"seconds"}:
        np.testing.assert_array_equal(end[name], states[-1][name], err_msg=name)


def test_agents_whose_settings_need_other_programs_do_not_train_at_once():
    other = CONFIG.replace(hidden_size=9)
    with pytest.raises(ValueError, match="differ in more than numbers that are data"):
        loop.make_learners([CONFIG, other], [1, 2])


@pytest.mark.slow
def test_an_agent_that_diverges_is_named_and_the_others_go_on(monkeypatch):
    real = run_state.initial_state

    def fresh(state, key):
        seeds = key[..., 1]

        def poison(x):
            worth = np.where(seeds == 2, np.float32(np.nan), np.float32(1))
            return x * worth.reshape(seeds.shape + (1,) * (x.ndim - seeds.ndim))

        params = jax.tree.map(poison, state.params)
        return real(dataclasses.replace(state, params=params), key)

    monkeypatch.setattr(run_state, "initial_state", fresh)
    jobs = [Job(CONFIG, seed) for seed in (2, 1)]
    for number in (1, 2):
        rows = list(many_agents.train_jobs(jobs, number))
        assert [row.diverged for row in rows] == [True, False]
        found = agent_groups.group_summary(rows, CONFIG)
        assert found.diverged == (2,)
        assert found.not_proven == (2, 1)
        assert agent_groups.csv_row(rows[0])["unbeatable"] is None
    first, *_, last = at_once([CONFIG, CONFIG], [2, 1])
    assert first.diverged.tolist() == [False, False]  # nothing is learned yet
    assert last.diverged.tolist() == [True, False]


def test_an_agent_that_diverged_is_not_graded_even_if_its_weights_are_finite(
    monkeypatch,
):
    real = loop.training_steps

    def diverging(*args, **options):
        for step in real(*args, **options):
            state = dataclasses.replace(step.state, diverged=np.array([True, False]))
            yield step._replace(state=state)

    monkeypatch.setattr(loop, "training_steps", diverging)
    rows = list(many_agents.train_jobs([Job(CONFIG, seed) for seed in (1, 2)], 2))
    assert [row.diverged for row in rows] == [True, False]
    assert [row.grade is None for row in rows] == [True, False]


def steps_of(*seconds, num=None):
    """Return a run that took so many seconds by each step; `num` agents at once."""
    nothing = Evaluation(exact=None, sampled=None)
    for update, sum_so_far in enumerate(
        seconds, CONFIG.run.num_updates - len(seconds) + 1
    ):
        yield made.progress(update, sum_so_far, nothing, num)


@pytest.mark.parametrize("num", [3])
def test_agents_at_once_share_the_seconds_evenly(num, monkeypatch):
    """So their sum is what training took, however many train at once."""

    def train(learner, key, *, stop, layout):
        del learner, stop
        return steps_of(4.0, 12.0, num=len(key) if layout.many else None)

    monkeypatch.setattr(loop, "training_steps", train)
    jobs = [Job(CONFIG, seed) for seed in range(num)]
    assert [row.seconds for row in many_agents.train_jobs(jobs, num)] == [
        12 / num
    ] * num
    assert [row.seconds for row in many_agents.train_jobs(jobs, 1)] == [12] * num
    rest = [row.seconds for row in many_agents.train_jobs([*jobs, Job(CONFIG, 9)], num)]
    assert rest == [12 / num] * num + [12]  # the last one is alone in its turn


def test_an_agent_that_diverges_alone_took_the_seconds_until_then(monkeypatch):
    def diverging(*_, **__):
        yield from itertools.islice(steps_of(1.0, 3.0, 12.0), 2)
        raise FloatingPointError

    monkeypatch.setattr(loop, "training_steps", diverging)
    (row,) = many_agents.train_jobs([Job(CONFIG, 1)], 1)
    assert (row.seed, row.games, row.seconds, row.diverged) == (1, 7, 3, True)
    assert row.grade is None


@pytest.mark.parametrize(
    ("limit", "fit"), [(None, 100), (14_000, 7), (1, 1), (10**9, 100)]
)
def test_as_many_train_at_once_as_the_memory_holds(limit, fit, monkeypatch):
    stats = {} if limit is None else {"bytes_limit": limit + 50, "bytes_in_use": 50}
    device = SimpleNamespace(platform="gpu", memory_stats=lambda: stats)
    monkeypatch.setattr(many_agents.devices, "current_device", lambda: device)
    monkeypatch.setattr(loop, "agent_memory", lambda config: 1000)
    assert many_agents.agents_that_fit(CONFIG, most=100) == fit


def test_on_a_cpu_they_train_one_after_another():
    assert many_agents.agents_that_fit(CONFIG) == 1


@pytest.fixture
def four_devices(spread):
    """Return the mesh of four devices."""
    return spread(4)


def test_devices_share_each_batch_evenly_and_copies_have_no_row(
    four_devices, monkeypatch
):
    batches = []

    def train(learner, key, *, stop, layout):
        del learner, stop
        assert layout == Layout(many=True, mesh=four_devices)
        batches.append(key[:, 1].tolist())
        return steps_of(4.0, 12.0, num=len(key))

    monkeypatch.setattr(loop, "training_steps", train)
    jobs = [Job(CONFIG, seed) for seed in range(6)]
    rows = [*many_agents.train_jobs(jobs, 3, mesh=four_devices)]
    assert batches == [[0, 1, 2, 3], [4, 5, 5, 5]]
    assert [(row.seed, row.seconds) for row in rows] == [
        *((seed, 3.0) for seed in range(4)),
        *((seed, 6.0) for seed in (4, 5)),
    ]


@pytest.fixture
def room_for_seven(four_devices, monkeypatch):
    """Let half of a device's free memory hold seven agents."""
    monkeypatch.setattr(
        many_agents.devices, "current_device", lambda: SimpleNamespace(platform="gpu")
    )
    monkeypatch.setattr(many_agents.devices, "free_bytes", lambda: 14_000)
    monkeypatch.setattr(loop, "agent_memory", lambda config: 1000)


@pytest.mark.usefixtures("room_for_seven")
def test_each_device_trains_as_many_as_its_own_memory_holds(four_devices):
    assert many_agents.agents_that_fit(CONFIG) == 7
    assert many_agents.agents_that_fit(CONFIG, four_devices) == 4 * 7


@pytest.mark.usefixtures("room_for_seven")
def test_processes_train_as_many_as_fit_into_each(four_devices, monkeypatch):
    """Their batches must be the same, though their free memory differs."""
    monkeypatch.setattr(processes, "max_over_processes", lambda number: max(number, -5))
    assert many_agents.agents_that_fit(CONFIG, four_devices) == 4 * 5
    monkeypatch.setattr(many_agents.devices, "free_bytes", lambda: None)
    assert many_agents.agents_that_fit(CONFIG, four_devices) == 4 * 5


@pytest.mark.slow
def test_agents_that_look_for_counterexamples_train_alone_and_in_rounds():
    config = Config.of(
        **{"env_id": "connect_4x4", "start_share": 0.5, "hidden_size": 8},
        **{"num_envs": 8, "num_updates": 4, "eval_every": 2, "eval_games": 0},
    )
    assert many_agents.agents_that_fit(config) == 1
    jobs = [Job(config, seed) for seed in (0, 1)]
    found = list(many_agents.train_jobs(jobs, at_once=2))
    ungraded = run_state.initial_grade(config)
    *_, (_, grade) = run_state.with_grades(config, alone(config, 1), ungraded)
    assert [row.update for row in found] == [4, 4]
    assert found[1].grade == grade != found[0].grade
