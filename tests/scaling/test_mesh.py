"""Runs over many devices: how arrays lie, and that the results are those of one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import commands
import jax
import numpy as np
import pytest
from jax_ttt.training.keys import run_key
from jax_ttt.training.programs import Programs

import jax_ttt
from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.envs import tree as trees
from jax_ttt.training import loop, many_agents, programs, run_state
from jax_ttt.training.many_agents import Job

CONFIG = Config.of(
    num_envs=64, hidden_size=32, num_updates=6, eval_every=6, eval_games=0
)
# Plain gradient descent, so that a step is the gradient times the learning rate.
SGD = CONFIG.replace(optimizer="sgd", learning_rate=1.0)
REPLAY = CONFIG.replace(replay_capacity=128, replay_batch=32, replay_start=0)
TABLE = CONFIG.replace(network="table", learning_rate=0.5)


def after(config, num_updates):
    """Return the leaves and metrics after some updates."""
    hyper, opponent = programs.hyper_arrays(config), loop.make_opponent(config, 3)
    made = Programs(config)
    state = made.start(run_key(3), hyper, opponent)
    return made.updates(num_updates, state, hyper, opponent)


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(SGD, id="sgd", marks=pytest.mark.slow),
        pytest.param(REPLAY, id="replay"),
        pytest.param(TABLE, id="table", marks=pytest.mark.slow),
    ],
)
def test_an_update_is_that_of_one_device(config, spread):
    alone, alone_metrics = jax.device_get(after(config, 1))
    spread(8)
    leaves, metrics = jax.device_get(after(config, 1))
    assert metrics.games == alone_metrics.games
    np.testing.assert_allclose(metrics.loss, alone_metrics.loss, rtol=1e-5)
    np.testing.assert_allclose(metrics.grad_norm, alone_metrics.grad_norm, rtol=1e-5)
    assert leaves.keys() == alone.keys()
    for name, leaf in leaves.items():
        np.testing.assert_allclose(leaf, alone[name], atol=1e-5, err_msg=name)


def test_games_are_split_and_all_else_is_on_each_device(spread):
    spread(8)
    leaves, _ = after(REPLAY, 2)
    for name, leaf in leaves.items():
        rows = leaf.shape[0] if leaf.ndim else 0
        is_split = name.startswith(("env_state.", "buffer.moves."))
        own = (rows // 8, *leaf.shape[1:]) if is_split else leaf.shape
        assert {shard.data.shape for shard in leaf.addressable_shards} == {own}, name
    assert leaves["env_state.observation"].shape[0] == 64


@pytest.mark.slow
def test_agents_are_trained_in_batches_and_named_in_order(spread):
    jobs = [Job(CONFIG, seed) for seed in range(5)]
    alone = list(many_agents.train_jobs(jobs))
    spread(4)  # the second batch has one agent, and three that only fill it
    rows = list(many_agents.train_jobs(jobs))
    assert [row.seed for row in rows] == [0, 1, 2, 3, 4]
    for row, other in zip(rows, alone, strict=True):
        assert (row.games, row.env_steps) == (other.games, other.env_steps)
        assert row.is_proven == other.is_proven


@pytest.mark.parametrize(("num_envs", "sizes"), [(1001, "1,000 or 1,008"), (5, "8")])
def test_games_that_can_not_be_split_evenly_are_refused(num_envs, sizes, spread):
    spread(8)
    config = CONFIG.replace(num_envs=num_envs)
    with pytest.raises(Refused) as found:
        next(loop.train_from_scratch(config, 1, trees.game_tree(config.env_id)))
    said = f"num_envs must be a multiple of the 8 devices, such as {sizes}, got"
    assert str(found.value) == f"{said} {num_envs}"


def test_more_devices_than_there_are_are_refused(spread):
    with pytest.raises(Refused, match=r"^--devices must be 1 to 8, .* got 9$"):
        spread(9)


@pytest.mark.slow
def test_a_state_continues_on_another_number_of_devices(spread):
    config, tree = CONFIG.replace(eval_every=3), trees.game_tree(CONFIG.env_id)
    spread(8)
    steps = loop.train_from_scratch(config, 1, tree)
    half = next(step for step in steps if step.update == 3)
    state = run_state.on_host(half.state)
    spread(2)
    *_, last = loop.continue_training(config, state, tree)
    spread(1)
    *_, whole = loop.train_from_scratch(config, 1, tree)
    assert last.update == whole.update == 6
    for name, leaf in jax.device_get(whole.params).items():
        np.testing.assert_allclose(last.params[name], leaf, atol=1e-5, err_msg=name)


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("seed", [1000, 1001])
def test_a_run_over_eight_devices_ends_in_a_proof(seed, spread):
    config = Config.of()
    spread(8)
    *_, last = loop.train_from_scratch(config, seed, trees.game_tree(config.env_id))
    assert last.state.best is not None
    assert last.state.best.proven


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_a_sweep_over_eight_devices_has_the_verdicts_of_one(spread):
    config = PRESETS["table"].replace(num_updates=100)  # too few for some seeds
    jobs = [Job(config, seed) for seed in range(1000, 1016)]
    alone = list(many_agents.train_jobs(jobs))
    spread(8)
    rows = list(many_agents.train_jobs(jobs))
    verdicts = [[(row.seed, row.is_proven) for row in found] for found in (rows, alone)]
    assert verdicts[0] == verdicts[1]
    assert 0 < sum(row.is_proven for row in rows) < 16


@pytest.mark.parametrize("number", ["8", "all"])
@pytest.mark.parametrize(
    "words",
    [
        "train --num-envs 100",
        "train --num-envs 64 --replay-capacity 100 --replay-batch 8 --replay-start 0",
        "sweep --env-id connect_4x4 --start-share 0.5 --num-envs 100 --num-seeds 1",
    ],
)
def test_a_command_refuses_what_the_devices_cannot_share(
    number, words, spread, tmp_path, monkeypatch, capsys
):
    """The tests' process has eight devices."""
    monkeypatch.chdir(tmp_path)
    name, *flags = words.split()
    command = commands.module_of(name)
    assert command.main([*flags, "--devices", number]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "multiple of the 8 devices" in err
    assert not any(tmp_path.iterdir())


def test_a_sweep_over_devices_may_have_any_number_of_games(spread, tmp_path):
    """Its agents are split, not their games."""
    spread(8)
    job = Job(CONFIG.replace(num_envs=10, num_updates=1), seed=1)
    (row,) = many_agents.train_jobs([job])
    assert row.update == 1


@pytest.mark.parametrize("name", ["train", "sweep"])
def test_sizes_are_refused_before_jax_is_loaded(name, tmp_path):
    words = "--env-id connect_4x4 --start-share 0.5 --num-envs 100 --devices 8"
    code = (
        "import importlib, sys; "
        f"command = importlib.import_module('jax_ttt.{name}'); "
        f"print(command.main({words!r}.split()), 'jax' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(jax_ttt.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["2", "False"], done.stderr


def compiled(config):
    """Return the program of one update."""
    hyper = programs.hyper_arrays(config)
    _, job = Programs(config).compile_training({1}, run_key(3), hyper, None)
    return job.compiled.result()


def collectives(program):
    """Return the names of the operations that exchange data between devices."""
    kinds = "all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter"
    return re.findall(rf" ({kinds})(?:-start)?\(", program.as_text())


@pytest.mark.slow
def test_each_device_has_its_share_of_the_work(spread):
    config = CONFIG.replace(num_envs=1024)
    alone = compiled(config)
    spread(8)
    program = compiled(config)
    whole, share = (found.cost_analysis() or {} for found in (alone, program))
    # Of what an update computes, only the optimizer's step is done on each device.
    assert 1 / 8 <= share["flops"] / whole["flops"] < 1.25 / 8
    assert set(collectives(program)) == {"all-reduce"}
    assert not collectives(alone)


def test_agents_at_once_exchange_nothing_but_their_results(spread):
    spread(4)
    hyper = jax.tree.map(lambda x: np.stack([x] * 4), programs.hyper_arrays(CONFIG))
    made = Programs(CONFIG, many=True)
    key = np.stack([run_key(seed) for seed in range(4)])
    start, job = made.compile_training({1}, key, hyper, None)
    leaves = made.start(key, hyper)
    assert not collectives(start.compiled.result())
    assert set(collectives(job.compiled.result())) <= {"all-gather", "all-reduce"}
    for name, leaf in leaves.items():
        shapes = {shard.data.shape for shard in leaf.addressable_shards}
        assert shapes == {(1, *leaf.shape[1:])}, name
