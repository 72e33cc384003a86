"""Agents over many devices: where arrays lie, and results equal to one device's."""

import re
from collections.abc import Sequence

import commands
import jax
import numpy as np
import pytest
from same_runs import assert_same_run

from jax_ttt.config.errors import Refused
from jax_ttt.config.settings import Config
from jax_ttt.dqn import metrics
from jax_ttt.runtime import mesh as meshes
from jax_ttt.runtime import pytrees
from jax_ttt.training import agent_batch, loop, many_agents, run_start, run_state
from jax_ttt.training.many_agents import Job

FIELDS = {
    "num_envs": 9,
    "hidden_size": 8,
    "num_updates": 6,
    "eval_every": 6,
    "eval_games": 0,
}
CONFIG = Config.of(**FIELDS)
REPLAY = CONFIG.replace(replay_capacity=128, replay_batch=32, replay_start=0)
TABLE = CONFIG.replace(network="table", learning_rate=0.5)
SEEDS = range(4)


def run_of(config, seeds: Sequence[int] = SEEDS, mesh=None, state=None):
    """Return a run of agents with these seeds."""
    learner = run_start.make_learner([config] * len(seeds), seeds)
    if state is None:
        state = run_start.first_state(learner, agent_batch.run_keys(seeds), mesh)
    return loop.training_steps(learner, state, mesh=mesh)


def host_leaves(state):
    """Return the leaves by name as NumPy arrays."""
    return jax.device_get(pytrees.leaves_by_name(state))


@pytest.mark.slow
@pytest.mark.parametrize(
    "config", [CONFIG, REPLAY, TABLE], ids=["network", "replay", "table"]
)
def test_agents_of_a_device_each_are_bit_for_bit_those_that_train_alone(config, spread):
    """Each device computes its agent without an axis of agents."""
    *_, last = run_of(config, mesh=spread(4))
    leaves = host_leaves(last.state.train_state)
    for index, seed in enumerate(SEEDS):
        *_, one = run_of(config, [seed])
        counts = last.state.counts_of(index)
        assert counts.games == one.state.counts_of().games
        assert counts.env_steps == one.state.counts_of().env_steps > 0
        for name, leaf in host_leaves(one.state.train_state).items():
            np.testing.assert_array_equal(leaves[name][index], leaf[0], err_msg=name)
        results, expected = map(jax.tree.leaves, (last.evaluation, one.evaluation))
        for result, other in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result[index], other[0])


@pytest.mark.slow
def test_a_sweep_over_devices_has_the_results_of_one(spread):
    """The second block has two agents, and two that only fill it."""
    jobs = [Job(TABLE, seed) for seed in range(6)]
    one, many = (
        [
            (result.seed, result.games, result.env_steps, result.grade)
            for block in many_agents.train_blocks(jobs, mesh=mesh)
            for result in block.results()
        ]
        for mesh in (None, spread(4))
    )
    assert many == one


@pytest.mark.slow
def test_agents_continue_on_as_many_devices_and_on_others(spread):
    """Each of two devices computes two agents together."""
    config = REPLAY.replace(eval_every=3)
    steps = [
        (step, run_state.copy_to_host(step.state))
        for step in run_of(config, mesh=spread(4))
    ]
    half, leaves = next(pair for pair in steps if pair[0].update == 3)
    _, end = steps[-1]

    def continued(number):
        """Return the leaves at the end of a run that goes on from its third update."""
        state = pytrees.with_leaves(half.state, leaves)
        *_, last = run_of(config, mesh=spread(number), state=state)
        assert last.update == 6
        return run_state.copy_to_host(last.state)

    same, other = continued(4), continued(2)
    assert same.keys() == other.keys() == end.keys()
    for name in end.keys() - {"seconds"}:
        np.testing.assert_array_equal(same[name], end[name], err_msg=name)
        if name.startswith("train_state.params"):
            np.testing.assert_allclose(other[name], end[name], atol=1e-5, err_msg=name)


def test_more_devices_than_there_are_are_refused(spread):
    with pytest.raises(Refused, match=r"^--devices must be 1 to 8, .* got 9$"):
        spread(9)


@pytest.mark.slow
def test_one_agent_trains_on_one_device_with_any_number_of_games(tmp_path):
    """The tests' process has eight devices."""
    flags = ["--preset", "plain", "--quiet"]
    for name, value in FIELDS.items():
        flags += [f"--{name.replace('_', '-')}", str(value)]
    for devices in ("1", "all"):
        words = [*flags, "--devices", devices, "--run-dir", str(tmp_path / devices)]
        commands.run(commands.module_of("train"), *words)
    assert_same_run(tmp_path / "1", tmp_path / "all")


def collectives(program):
    """Return the names of the operations that exchange data between devices."""
    kinds = "all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter"
    return re.findall(rf" ({kinds})(?:-start)?\(", program.as_text())


@pytest.mark.slow
def test_agents_on_devices_exchange_nothing(spread):
    mesh = spread(4)
    split = meshes.split_sharding(mesh)
    learner = run_start.make_learner([CONFIG] * 4, SEEDS)
    learner = meshes.put_on_devices(learner, meshes.replicated_sharding(mesh))
    keys = meshes.put_on_devices(agent_batch.run_keys(SEEDS), split)
    start = agent_batch.start_program.jitted().lower(learner, keys, mesh=mesh)
    assert not collectives(start.compile())
    state = agent_batch.start_program(learner, keys, mesh=mesh)
    for name, leaf in pytrees.leaves_by_name(state).items():
        assert isinstance(leaf, jax.Array)
        shapes = {shard.data.shape for shard in leaf.addressable_shards}
        assert shapes == {(1, *leaf.shape[1:])}, name
    before = meshes.put_on_devices(metrics.no_updates((4,)), split)
    chunk = agent_batch.chunk_program.jitted().lower(
        learner, state, 1, before, mesh=mesh
    )
    assert not collectives(chunk.compile())
