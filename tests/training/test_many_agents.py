"""Many agents: each is that of a run alone."""

import dataclasses
import functools
import itertools
from types import SimpleNamespace

import jax
import made
import numpy as np
import pytest

from jax_ttt.config.hyper import Hyper
from jax_ttt.config.settings import Config
from jax_ttt.envs import tree as trees
from jax_ttt.envs.opponents import SelfPlay
from jax_ttt.evaluation import agent_groups
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.players.network import network_of
from jax_ttt.scaling import mesh, processes
from jax_ttt.training import graded_steps, loop, many_agents
from jax_ttt.training.keys import keys
from jax_ttt.training.many_agents import Job
from jax_ttt.training.programs import Programs

CONFIG = Config.of(
    num_envs=16, hidden_size=8, num_updates=6, eval_every=6, eval_games=0
)


def params_of(run):
    *_, last = run
    return jax.device_get(last.params)


def leaves(params):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(params)]


def test_settings_that_are_data_share_one_program():
    other = CONFIG.replace(learning_rate=1e-2, tau=0.5, gamma=0.9)
    assert CONFIG.static == other.static != other
    assert (other.hyper.tau, other.hyper.gamma) == (0.5, 0.9)
    assert other.static.replace(**changed(other, CONFIG)) == other
    assert CONFIG.replace(num_envs=8).static != CONFIG.static
    assert CONFIG.architecture == CONFIG.replace(num_envs=8, tau=0.5).architecture


def changed(config, usual):
    """Return the hyperparameters that differ from the usual ones."""
    pairs = zip(Hyper._fields, config.hyper, usual.hyper, strict=True)
    return {name: number for name, number, old in pairs if number != old}


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
    agents = [params_of(loop.train_from_scratch(c, 1, None)) for c in (config, other)]
    assert any((a != b).any() for a, b in zip(*map(leaves, agents), strict=True))


def test_a_number_as_data_does_what_it_does_as_a_constant(tree):
    from jax_ttt.dqn import learner

    config = CONFIG.replace(learning_rate=7e-3, tau=0.2, tremble=0.25)
    data = params_of(loop.train_from_scratch(config, 3, None))
    key = keys(jax.random.key(3)).training
    state = learner.init(
        config, config.hyper, network_of(config.architecture), key, SelfPlay()
    )
    constant = learner.train_chunk(
        config, config.hyper, network_of(config.architecture), state, 6, SelfPlay()
    )[0].params
    for a, b in zip(leaves(data), leaves(constant), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_an_agent_of_a_loop_is_the_agent_of_a_run_alone():
    config = CONFIG.replace(eval_every=4)
    rows = list(many_agents.train_jobs([Job(config, seed) for seed in (4, 5)], 1))
    for row in rows:
        *_, last = loop.train_from_scratch(
            config, row.seed, trees.game_tree("tic_tac_toe")
        )
        assert last.evaluation is not None
        graded = last.evaluation.exact
        assert graded is not None
        assert row.exact is not None
        assert row.exact.first.win_rate == float(graded.first.random.win_rate)
        assert row.games == last.games
    assert [row.seed for row in rows] == [4, 5]
    assert rows[0].exact != rows[1].exact


@pytest.mark.parametrize(
    "opponent", ["self", pytest.param("mcts:4", marks=pytest.mark.slow)]
)
def test_agents_that_train_at_once_are_those_that_train_alone(opponent):
    """They are equal up to float32 rounding, each with its seed and settings."""
    config = CONFIG.replace(opponent=opponent)
    other = config.replace(learning_rate=1e-2, epsilon_end=0.2)
    configs, seeds = (config, other, config), (4, 4, 5)
    many = params_of(loop.train_at_once(configs, seeds, None))
    for i, pair in enumerate(zip(configs, seeds, strict=True)):
        alone = params_of(loop.train_from_scratch(*pair, None))
        for a, b in zip(leaves(many), leaves(alone), strict=True):
            np.testing.assert_allclose(a[i], b, rtol=1e-3, atol=1e-5)


def test_agents_whose_settings_need_other_programs_do_not_train_at_once():
    other = CONFIG.replace(hidden_size=9)
    with pytest.raises(ValueError, match="only in settings that are data"):
        list(loop.train_at_once([CONFIG, other], [1, 2], None))


def test_an_agent_that_diverges_is_named_and_the_others_go_on(monkeypatch):
    real = Programs.start

    def start(self, key, hyper, opponent):
        state = real(self, key, hyper, opponent)
        seeds = key[..., 1]

        def poison(x):
            worth = np.where(seeds == 2, np.float32(np.nan), np.float32(1))
            return x * worth.reshape(seeds.shape + (1,) * (x.ndim - seeds.ndim))

        params = [name for name in state if name.startswith("params.")]
        return state | {name: poison(state[name]) for name in params}

    monkeypatch.setattr(Programs, "start", start)
    jobs = [Job(CONFIG, seed) for seed in (2, 1)]
    for at_once in (1, 2):
        rows = list(many_agents.train_jobs(jobs, at_once))
        assert [row.diverged for row in rows] == [True, False]
        found = agent_groups.group_summary(rows, CONFIG)
        assert found.diverged == (2,)
        assert found.not_proven == (2, 1)
        assert agent_groups.as_cells(rows[0])["unbeatable"] is None
    first, *_, last = loop.train_at_once([CONFIG, CONFIG], [2, 1], None)
    assert first.diverged.tolist() == [False, False]  # nothing is learned yet
    assert last.diverged.tolist() == [True, False]


def test_an_agent_that_diverged_is_not_graded_even_if_its_weights_are_finite(
    monkeypatch,
):
    real = loop.train_at_once

    def diverging(*args):
        for step in real(*args):
            state = dataclasses.replace(step.state, diverged=np.array([True, False]))
            yield step._replace(state=state)

    monkeypatch.setattr(loop, "train_at_once", diverging)
    rows = list(many_agents.train_jobs([Job(CONFIG, seed) for seed in (1, 2)], 2))
    assert [row.diverged for row in rows] == [True, False]
    assert [row.exact is None for row in rows] == [True, False]


def steps_of(*seconds, num=None):
    """Return a run that took so many seconds by each step; `num` agents at once."""
    nothing = Evaluation(None, None, None)
    for update, sum_so_far in enumerate(
        seconds, CONFIG.run.num_updates - len(seconds) + 1
    ):
        yield made.progress(update, sum_so_far, nothing, num)


@pytest.mark.parametrize("num", [3])
def test_agents_at_once_share_the_seconds_evenly(num, monkeypatch):
    """So their sum is what training took, however many train at once."""
    run = functools.partial(steps_of, 4.0, 12.0)
    monkeypatch.setattr(
        loop, "train_at_once", lambda configs, *_: run(num=len(configs))
    )
    monkeypatch.setattr(loop, "train_from_scratch", lambda *_: run())
    jobs = [Job(CONFIG, seed) for seed in range(num)]
    assert [row.seconds for row in many_agents.train_jobs(jobs, num)] == [
        12 / num
    ] * num
    assert [row.seconds for row in many_agents.train_jobs(jobs, 1)] == [12] * num
    rest = [row.seconds for row in many_agents.train_jobs([*jobs, Job(CONFIG, 9)], num)]
    assert rest == [12 / num] * num + [12]  # the last one is alone in its turn


def test_an_agent_that_diverges_alone_took_the_seconds_until_then(monkeypatch):
    def diverging(*_):
        yield from itertools.islice(steps_of(1.0, 3.0, 12.0), 2)
        raise FloatingPointError

    monkeypatch.setattr(loop, "train_from_scratch", diverging)
    (row,) = many_agents.train_jobs([Job(CONFIG, 1)], 1)
    assert (row.seed, row.games, row.seconds, row.diverged) == (1, 7, 3, True)
    assert row.rates == {}


@pytest.mark.parametrize(
    ("limit", "fit"), [(None, 100), (14_000, 7), (1, 1), (10**9, 100)]
)
def test_as_many_train_at_once_as_the_memory_holds(limit, fit, monkeypatch):
    stats = {} if limit is None else {"bytes_limit": limit + 50, "bytes_in_use": 50}
    device = SimpleNamespace(platform="gpu", memory_stats=lambda: stats)
    monkeypatch.setattr(many_agents.devices, "current", lambda: device)
    monkeypatch.setattr(loop, "size", lambda config, tree: 1000)
    assert many_agents.agents_that_fit(CONFIG, most=100) == fit


def test_on_a_cpu_they_train_one_after_another():
    assert many_agents.agents_that_fit(CONFIG) == 1


@pytest.fixture
def four_devices(monkeypatch):
    monkeypatch.setattr(mesh, "_mesh", SimpleNamespace(size=4))


@pytest.mark.usefixtures("four_devices")
def test_devices_share_each_batch_evenly_and_copies_have_no_row(monkeypatch):
    batches = []

    def train_at_once(configs, seeds, *_):
        batches.append(seeds)
        return steps_of(4.0, 12.0, num=len(configs))

    monkeypatch.setattr(loop, "train_at_once", train_at_once)
    jobs = [Job(CONFIG, seed) for seed in range(6)]
    rows = [*many_agents.train_jobs(jobs, 3)]
    assert batches == [[0, 1, 2, 3], [4, 5, 5, 5]]
    assert [(row.seed, row.seconds) for row in rows] == [
        *((seed, 3.0) for seed in range(4)),
        *((seed, 6.0) for seed in (4, 5)),
    ]


@pytest.fixture
def room_for_seven(monkeypatch):
    """Let half of a device's free memory hold seven agents."""
    monkeypatch.setattr(
        many_agents.devices, "current", lambda: SimpleNamespace(platform="gpu")
    )
    monkeypatch.setattr(many_agents.devices, "free_bytes", lambda: 14_000)
    found = []
    monkeypatch.setattr(
        loop, "size", lambda *_: found.append(mesh.num_devices()) or 1000
    )
    return found


@pytest.mark.usefixtures("four_devices")
def test_each_device_trains_as_many_as_its_own_memory_holds(room_for_seven):
    assert many_agents.agents_that_fit(CONFIG) == 4 * 7
    assert room_for_seven == [1]  # the agent is measured on one device
    assert mesh.num_devices() == 4


@pytest.mark.usefixtures("four_devices", "room_for_seven")
def test_processes_train_as_many_as_fit_into_each(monkeypatch):
    """Their batches must be the same, though their free memory differs."""
    monkeypatch.setattr(processes, "agreed", lambda number: max(number, -5))
    assert many_agents.agents_that_fit(CONFIG) == 4 * 5
    monkeypatch.setattr(many_agents.devices, "free_bytes", lambda: None)
    assert many_agents.agents_that_fit(CONFIG) == 4 * 5


@pytest.mark.slow
def test_agents_that_look_for_counterexamples_train_alone_and_in_rounds():
    config = Config.of(
        **{"env_id": "connect_4x4", "start_share": 0.5, "hidden_size": 8},
        **{"num_envs": 8, "num_updates": 4, "eval_every": 2, "eval_games": 0},
    )
    assert many_agents.agents_that_fit(config) == 1
    jobs = [Job(config, seed) for seed in (0, 1)]
    found = list(many_agents.train_jobs(jobs, at_once=2))
    *_, (_, grades) = graded_steps.with_grades(loop.train_from_scratch(config, 1, None))
    assert [row.update for row in found] == [4, 4]
    assert found[1].reached == grades.reached != found[0].reached
