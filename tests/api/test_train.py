"""Training from Python: the settings, the rows, several seeds and refusals."""

from typing import Any

import jax
import numpy as np
import pytest

import jax_ttt
from jax_ttt.api import train
from jax_ttt.config.settings import Config
from jax_ttt.training import loop, many_agents, run_state
from jax_ttt.training.run_state import run_key

TINY: dict[str, Any] = {"num_updates": 20, "eval_every": 10, "num_envs": 16}


@pytest.fixture(scope="module")
def tiny():
    return jax_ttt.train(3, "table", **TINY)


def same(one, other):
    return all(jax.tree.leaves(jax.tree.map(np.array_equal, one, other)))


@pytest.mark.slow
def test_it_is_the_agent_of_the_loop(tiny):
    config = jax_ttt.PRESETS["table"].replace(**TINY)
    *_, last = loop.training_steps(loop.make_learner(config, 3), run_key(3))
    assert same(tiny.agent.params, last.params)
    assert tiny.agent.config == config
    assert [row.event for row in tiny.rows] == [
        *("evaluation", "chunk", "evaluation", "chunk", "evaluation")
    ]
    assert tiny.rows[-1].grade == tiny.agent.score
    assert tiny.agents == (tiny.agent,)


@pytest.mark.parametrize(
    ("fields", "preset"),
    [
        ({}, "default"),
        ({"env_id": "connect_four"}, "plain"),
        ({"opponent": "random"}, "plain"),
        ({"opponent": "self"}, "default"),
    ],
)
def test_the_preset_is_that_of_the_command(fields, preset):
    expected = jax_ttt.PRESETS[preset].replace(**fields)
    assert train.make_config(None, fields) == expected


def test_a_config_is_used_unchanged():
    config = Config.of(tau=0.5)
    assert train.make_config(config, {}) == config
    assert train.make_config(config, {"gamma": 0.5}) == config.replace(gamma=0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"learning_rat": 1.0}, "no setting learning_rat; did you mean learning_rate"),
        ({"gamma": 1.5}, "gamma must be a number from 0 to 1, got 1.5"),
        (
            {"learning_rate": 1e-3},
            r"learning_rate_end must be .* got 0.002 \(the others are ",
        ),
        ({"seed": -1}, "seed must be a whole number"),
        ({"opponent": "nobody"}, "no known player"),
        ({"env_id": "hex", "until_proven": True}, "until_proven must be"),
    ],
)
def test_wrong_settings_are_refused(call, message):
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.train(**call)


@pytest.mark.usefixtures("any_types")
def test_a_preset_in_place_of_the_seed_is_recognized():
    preset: Any = "table"
    with pytest.raises(jax_ttt.Refused, match=r'seed must .* mean preset="table"'):
        jax_ttt.train(preset)


@pytest.mark.usefixtures("optimized")
def test_it_stops_at_the_first_proof(run):
    stopped = jax_ttt.train(seed=1, preset="table", until_proven=True)
    assert stopped.is_proven
    first = next(agent for agent in run.agents if agent.score.unbeatable)
    assert stopped.agent.num_updates == first.num_updates < 400
    assert same(stopped.agent.params, first.params)


def test_it_shows_its_progress(capfd):
    jax_ttt.train(3, "table", progress=True, **TINY)
    assert "20/20" in capfd.readouterr().err
    jax_ttt.train(3, "table", **TINY)
    assert capfd.readouterr() == ("", "")


def test_several_seeds_are_the_agents_of_single_runs(tiny):
    runs = jax_ttt.train_many([4, 3], "table", **TINY)
    assert [run.seed for run in runs] == [4, 3]
    assert same(runs[1].agent.params, tiny.agent.params)
    assert not same(runs[0].agent.params, tiny.agent.params)


def test_a_seed_that_diverges_has_no_run_and_the_other_continues(monkeypatch):
    real = run_state.after_chunk

    def poisoned(state, learner, metrics, *about):
        metrics = metrics._replace(loss=metrics.loss * next(worths))
        return real(state, learner, metrics, *about)

    worths = iter([1.0, 1.0, np.nan])
    monkeypatch.setattr(run_state, "after_chunk", poisoned)
    runs = jax_ttt.train_many([4, 5], "table", **TINY)
    assert ([run.seed for run in runs], runs.diverged) == ([4], (5,))
    assert repr(runs).endswith("; diverged: seed 5")
    assert len(runs[0].rows) == 5


@pytest.fixture
def at_once(monkeypatch):
    """Let as many agents train at once as there are seeds, as on an accelerator."""
    monkeypatch.setattr(many_agents, "agents_that_fit", lambda config: 99)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_seeds_that_train_at_once_are_the_agents_of_single_runs(tiny):
    runs = jax_ttt.train_many([4, 3], "table", **TINY)
    assert [run.seed for run in runs] == [4, 3]
    found, expected = (jax.tree.leaves(one.agent.params) for one in (runs[1], tiny))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    for row, other in zip(runs[1].rows, tiny.rows, strict=True):
        assert (row.event, row.update, row.games) == (
            *(other.event, other.update, other.games),
        )


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_of_seeds_at_once_one_that_diverges_has_no_run(monkeypatch):
    real = run_state.after_chunk

    def poisoned(state, learner, metrics, *about):
        bad = np.where(state.key[:, 1] == 5, np.float32(np.nan), np.float32(1))
        metrics = metrics._replace(loss=metrics.loss * bad)
        return real(state, learner, metrics, *about)

    monkeypatch.setattr(run_state, "after_chunk", poisoned)
    runs = jax_ttt.train_many([4, 5], "table", **TINY)
    assert ([run.seed for run in runs], runs.diverged) == ([4], (5,))
    assert len(runs[0].rows) == 5


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize("seeds", [8, "table"])
def test_one_seed_is_not_several(seeds):
    message = rf"seeds must be several seeds, for instance range\(8\), got {seeds!r}"
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.train_many(seeds)


@pytest.mark.parametrize("seeds", [[], [1, 1], [-1]])
def test_seeds_are_checked(seeds):
    with pytest.raises(jax_ttt.Refused, match="seeds must be"):
        jax_ttt.train_many(seeds)
