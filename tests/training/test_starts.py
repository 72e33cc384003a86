"""Trainings that begin with an agent's weights, or at the positions of corrections."""

import dataclasses

import jax
import numpy as np
import pytest
import tiny
from marks import mark_slow

from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.networks import q_network
from jax_ttt.players import registry, saved_agents
from jax_ttt.solver.corrections import Corrections
from jax_ttt.training import loop, run_start
from jax_ttt.training.agent_batch import run_keys

SMALL = {"num_envs": 8, "hidden_size": 8, "num_updates": 2, "eval_games": 0}
SMALL |= {"env_id": "connect_4x4"}
EMPTY_BOARD = 1 + (1 << 5) + (1 << 10) + (1 << 15)  # a 1 above each column's stones


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    """Return the file of an untrained agent with two corrections."""
    path = tmp_path_factory.mktemp("agent") / "agent.safetensors"
    agent = tiny.untrained(Config.of(**SMALL))
    with_stone = EMPTY_BOARD + 2  # column 1: a first player's stone, and a 1 above it
    corrections = Corrections(
        keys=np.array([EMPTY_BOARD, with_stone], "u8"), actions=np.array([1, 2], "u1")
    )
    saved_agents.save_agent(dataclasses.replace(agent, corrections=corrections), path)
    return path


def run_of(config, num_agents=1):
    seeds = range(5, 5 + num_agents)
    learner = run_start.make_learner([config] * num_agents, seeds)
    return loop.training_steps(learner, run_start.first_state(learner, run_keys(seeds)))


@pytest.mark.parametrize("num_agents", mark_slow([1, 2], 2))
def test_each_training_begins_with_the_weights_of_an_agent(num_agents, tmp_path):
    agent = tiny.untrained(tiny.CONFIG)
    path = tmp_path / "agent.safetensors"
    saved_agents.save_agent(agent, path)
    config = tiny.CONFIG.replace(start_agent=str(path))
    state = next(run_of(config, num_agents)).state.train_state
    for params in (state.params, state.target_params, state.average_params):
        for leaf, expected in zip(
            jax.tree.leaves(params), jax.tree.leaves(agent.params), strict=True
        ):
            np.testing.assert_array_equal(leaf, np.stack([expected] * num_agents))


def test_corrections_that_take_no_part_are_said(agent_path, capsys):
    """Only the weights are trained, and a lookahead has the network's values alone."""
    config = Config.of(**SMALL, start_agent=str(agent_path))
    next(run_of(config))
    note = "the training begins with its weights, without its corrections"
    assert capsys.readouterr().err == f"note: {agent_path}: {note}\n"
    name = f"lookahead:1:{agent_path}"
    spec = registry.read_player_name(name)
    registry.make_player(spec, "connect_4x4", jax.random.key(0))
    err = capsys.readouterr().err
    assert err.startswith(f"note: {name}: its corrections take no part")
    assert err.count("\n") == 1


@pytest.mark.slow
def test_games_start_at_the_positions_of_corrections(agent_path):
    """The pool holds them from the first update on, and no evaluation adds others."""
    config = Config.of(**SMALL, start_share=0.5, start_positions=str(agent_path))
    corrections = saved_agents.load_agent(agent_path).corrections
    assert corrections is not None
    expected = corrections.keys.tolist()
    num_steps = 0
    for step in run_of(config):
        num_steps += 1
        pool = step.state.train_state.pool
        assert pool is not None
        words = np.asarray(pool.keys)[0, : int(np.asarray(pool.size)[0])]
        assert position_keys.keys_to_numbers(words).tolist() == expected
        assert step.evaluation is None or not step.evaluation.searched
    assert num_steps > 2


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"start_agent": "shipped:connect-5x4"}, "made for connect_5x4"),
        ({"start_agent": "{agent}", "hidden_size": 16}, "the same network"),
        ({"start_agent": "no/agent"}, "no such file"),
        ({"start_agent": "random"}, "a training starts from a saved agent"),
        (
            {"start_share": 0.5, "start_positions": "{plain}"},
            "an agent with corrections",
        ),
    ],
)
def test_an_agent_that_does_not_fit_is_refused(fields, reason, agent_path, tmp_path):
    plain = tiny.save_untrained(tmp_path / "plain.safetensors", **SMALL)
    paths = {"{agent}": str(agent_path), "{plain}": str(plain)}
    fields = {name: paths.get(value, value) for name, value in fields.items()}
    with pytest.raises(Refused, match=reason):
        next(run_of(Config.of(**SMALL | fields)))


def test_weights_of_integers_are_refused(agent_path, tmp_path):
    agent = saved_agents.load_agent(agent_path)
    start = pgx_games.init(pgx_games.make_env("connect_4x4"), jax.random.key(0), 1)
    params = q_network.to_integers(agent.network, agent.params, start.observation)
    path = tmp_path / "integers.safetensors"
    saved_agents.save_agent(dataclasses.replace(agent, params=params), path)
    with pytest.raises(SettingError, match="a network of integers can't be"):
        next(run_of(Config.of(**SMALL, start_agent=str(path))))


def test_random_openings_go_with_corrections_but_not_with_counterexamples():
    fields = {"start_share": 0.5, "random_opening": 4, "env_id": "connect_4x4"}
    Config.of(**fields, start_positions="corrected.safetensors")
    with pytest.raises(SettingError, match="random_opening must be 0"):
        Config.of(**fields)
