"""Runs over many devices: where arrays lie, and results equal to one device's."""

import re

import commands
import jax
import numpy as np
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.runtime import pytrees
from jax_ttt.training import loop, many_agents, programs, run_state
from jax_ttt.training.layout import Layout, run_key
from jax_ttt.training.many_agents import Job

CONFIG = Config.of(
    num_envs=64, hidden_size=32, num_updates=6, eval_every=6, eval_games=0
)
# Plain gradient descent, so that a step is the gradient times the learning rate.
SGD = CONFIG.replace(optimizer="sgd", learning_rate=1.0)
REPLAY = CONFIG.replace(replay_capacity=128, replay_batch=32, replay_start=0)
TABLE = CONFIG.replace(network="table", learning_rate=0.5)


def run_start(config, layout):
    """Return the arguments of the start of a run: a learner and the run's key."""
    learner, key = loop.make_learner(config, 3), run_key(3)
    if layout.many:
        learner = loop.make_learners([config] * 4, range(4))
        key = np.stack([run_key(seed) for seed in range(4)])
    return layout.put_learner(learner, key)


def first_chunk(config, layout):
    """Return the arguments of the first chunk: a learner and its state."""
    learner, key = run_start(config, layout)
    return learner, programs.start_program(learner, key, layout=layout)


def train(config, num_updates, mesh=None):
    """Return the state and the metrics after some updates."""
    layout = Layout(mesh=mesh)
    learner, state = first_chunk(config, layout)
    return programs.advance_program(
        learner, state, num_updates=num_updates, layout=layout
    )


def run_of(config, seed, mesh=None, state=None):
    """Return a run of one agent."""
    learner = loop.make_learner(config, seed)
    return loop.training_steps(learner, run_key(seed), state, layout=Layout(mesh=mesh))


def host_leaves(state):
    """Return the leaves by name as NumPy arrays."""
    return jax.device_get(pytrees.leaves_by_name(state))


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(SGD, id="sgd", marks=pytest.mark.slow),
        pytest.param(REPLAY, id="replay"),
        pytest.param(TABLE, id="table", marks=pytest.mark.slow),
    ],
)
def test_games_are_split_and_an_update_is_that_of_one_device(config, spread):
    expected_state, expected_metrics = train(config, 1)
    state, metrics = train(config, 1, spread(8))
    assert metrics.games == expected_metrics.games
    np.testing.assert_allclose(metrics.loss, expected_metrics.loss, rtol=1e-5)
    np.testing.assert_allclose(metrics.grad_norm, expected_metrics.grad_norm, rtol=1e-5)
    expected = host_leaves(expected_state)
    for name, leaf in pytrees.leaves_by_name(state).items():
        assert isinstance(leaf, jax.Array)
        is_split = name.startswith(("env_state.", "buffer.moves."))
        shape = (leaf.shape[0] // 8, *leaf.shape[1:]) if is_split else leaf.shape
        assert {shard.data.shape for shard in leaf.addressable_shards} == {shape}, name
        np.testing.assert_allclose(
            jax.device_get(leaf), expected.pop(name), atol=1e-5, err_msg=name
        )
    assert not expected
    assert state.env_state.observation.shape[0] == 64


@pytest.mark.slow
def test_a_sweep_over_devices_has_the_results_of_one(spread):
    """The second batch has one agent, and three that only fill it.

    The agents are split, and each may have any number of games.
    """
    config = PRESETS["table"].replace(num_envs=250, num_updates=100)
    jobs = [Job(config, seed) for seed in range(1000, 1005)]
    expected = list(many_agents.train_jobs(jobs))
    rows = list(many_agents.train_jobs(jobs, mesh=spread(4)))
    for row, expected_row in zip(rows, expected, strict=True):
        for name in ("seed", "games", "env_steps", "is_proven"):
            assert getattr(row, name) == getattr(expected_row, name)


def test_more_devices_than_there_are_are_refused(spread):
    with pytest.raises(Refused, match=r"^--devices must be 1 to 8, .* got 9$"):
        spread(9)


HALVES = CONFIG.replace(eval_every=3)


@pytest.mark.slow
def test_a_run_on_devices_continues_bit_for_bit(spread):
    mesh = spread(8)
    steps = [
        (step.state, run_state.copy_to_host(step.state))
        for step in run_of(HALVES, 1, mesh)
    ]
    like, half = steps[2]  # evaluated after update 3
    _, end = steps[-1]
    assert (half["evaluated"], end["evaluated"]) == (3, 6)
    *_, last = run_of(HALVES, 1, mesh, pytrees.with_leaves(like, half))
    leaves = run_state.copy_to_host(last.state)
    assert leaves.keys() == end.keys()
    for name in end.keys() - {"seconds"}:
        np.testing.assert_array_equal(leaves[name], end[name], err_msg=name)


@pytest.mark.slow
def test_a_state_continues_on_another_number_of_devices(spread):
    half = next(step for step in run_of(HALVES, 1, spread(8)) if step.update == 3)
    state = pytrees.with_leaves(half.state, run_state.copy_to_host(half.state))
    *_, last = run_of(HALVES, 1, spread(2), state)
    *_, whole = run_of(HALVES, 1)
    assert last.update == whole.update == 6
    leaves = host_leaves(last.params)
    for name, leaf in host_leaves(whole.params).items():
        np.testing.assert_allclose(leaves[name], leaf, atol=1e-5, err_msg=name)


def test_a_command_refuses_games_that_all_devices_cannot_share(tmp_path, capsys):
    """The tests' process has eight devices."""
    flags = [
        "--num-envs",
        "100",
        "--devices",
        "all",
        "--run-dir",
        str(tmp_path / "run"),
    ]
    assert commands.run(commands.module_of("train"), flags) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "must be a multiple of the 8 devices, such as 96 or 104, got 100" in err
    assert not any(tmp_path.iterdir())


def compiled(config, layout):
    """Return the program of one update."""
    learner, state = first_chunk(config, layout)
    advance = programs.advance_program.jitted()
    return advance.lower(learner, state, num_updates=1, layout=layout).compile()


def collectives(program):
    """Return the names of the operations that exchange data between devices."""
    kinds = "all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter"
    return re.findall(rf" ({kinds})(?:-start)?\(", program.as_text())


@pytest.mark.slow
def test_each_device_has_its_share_of_the_work(spread):
    config = CONFIG.replace(num_envs=1024)
    single = compiled(config, Layout())
    program = compiled(config, Layout(mesh=spread(8)))
    whole, share = single.cost_analysis() or {}, program.cost_analysis() or {}
    # Of what an update computes, only the optimizer's step is done on each device.
    assert 1 / 8 <= share["flops"] / whole["flops"] < 1.25 / 8
    assert set(collectives(program)) == {"all-reduce"}
    assert not collectives(single)


@pytest.mark.slow
def test_agents_at_once_exchange_nothing_but_their_results(spread):
    layout = Layout(many=True, mesh=spread(4))
    start = programs.start_program.jitted().lower(
        *run_start(CONFIG, layout), layout=layout
    )
    assert not collectives(start.compile())
    program = compiled(CONFIG, layout)
    assert set(collectives(program)) <= {"all-gather", "all-reduce"}
    _, state = first_chunk(CONFIG, layout)
    for name, leaf in pytrees.leaves_by_name(state).items():
        assert isinstance(leaf, jax.Array)
        shapes = {shard.data.shape for shard in leaf.addressable_shards}
        assert shapes == {(1, *leaf.shape[1:])}, name
