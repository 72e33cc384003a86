"""A run's programs, its evaluations and its opponent."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quick
import tiny

from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.games.training_opponents import Versus
from jax_ttt.grading import counterexamples, training_evaluation
from jax_ttt.players import registry
from jax_ttt.players.saved_agents import network_from
from jax_ttt.training import agent_batch, loop, run_start
from jax_ttt.training.agent_batch import run_keys, stream_keys


def run_of(config, seed):
    learner = run_start.make_learner([config], [seed])
    return loop.training_steps(
        learner, run_start.first_state(learner, run_keys([seed]))
    )


def streams_of(seed):
    return stream_keys(jnp.asarray(run_keys([seed])[0]))


def test_an_evaluation_is_of_the_agent_and_not_of_its_target(tree):
    network = network_from(tiny.CONFIG.architecture)
    grade = jax.jit(
        lambda params: training_evaluation.grade_exactly(network, params, tree)
    )
    *_, last = run_of(tiny.CONFIG.replace(tau=0.1), 3)
    assert last.evaluation is not None
    assert last.evaluation.exact is not None
    rates, *_ = agent_batch.only_agent(last.evaluation.exact)
    of_agent, *_ = grade(last.params())
    target = agent_batch.only_agent(last.state.train_state.target_params)
    of_target, *_ = grade(target)
    np.testing.assert_allclose(rates, of_agent, atol=1e-6)
    assert (rates != of_target).any()


def test_the_games_of_an_evaluation_have_random_numbers_of_their_own():
    """Training draws from another stream of the run's key."""
    network = network_from(tiny.CONFIG.architecture)
    num_games = tiny.CONFIG.num_eval_games(is_exact=True)
    play = jax.jit(
        lambda params, key: training_evaluation.play_random(
            network, params, key, num_games=num_games
        )
    )

    def counts(params, key, update):
        return play(params, jax.random.fold_in(key, update)).tolist()

    streams = streams_of(3)
    sampled, of_grading, of_training = [], [], []
    for step in run_of(tiny.CONFIG, 3):
        if step.evaluation is not None:
            (match,) = np.asarray(step.evaluation.sampled)
            sampled.append(match.tolist())
            of_grading.append(counts(step.params(), streams.grading, step.update))
            of_training.append(counts(step.params(), streams.training, step.update))
    assert sampled == of_grading != of_training


def are_equal(player, other):
    """Return whether all leaves of two players are equal."""
    assert jax.tree.structure(player) == jax.tree.structure(other)
    same = jax.tree.map(np.array_equal, player, other)
    return all(jax.tree.leaves(same))


@pytest.mark.parametrize("name", ["random", "minimax", "mcts:4"])
def test_the_opponent_is_the_one_in_the_settings_with_its_own_random_numbers(name):
    assert run_start.make_opponent(Config(), 3) is None  # self-play
    config = Config.of(opponent=name, seat="second")
    opponent = run_start.make_opponent(config, 3)
    assert isinstance(opponent, Versus)
    assert (opponent.seat, opponent.num_envs) == ("second", config.num_envs)
    spec = registry.read_player_name(name)
    streams = streams_of(3)
    expected, of_training = (
        registry.training_opponent(spec, config.env_id, key)
        for key in (streams.opponent, streams.training)
    )
    assert are_equal(opponent.player, expected)
    is_equal = are_equal(opponent.player, of_training)
    assert is_equal == (name != "mcts:4"), "only MCTS has random numbers"


def test_a_first_move_has_to_be_legal():
    run_start.check_first_move(Config.of(opponent="random", first_move=8))
    config = Config.of(opponent="random", first_move=9)
    with pytest.raises(SettingError, match=r"\[0, 1, 2, 3, 4, 5, 6, 7, 8\]"):
        run_start.check_first_move(config)


@pytest.mark.slow
def test_each_round_but_the_first_adds_counterexamples_of_its_own_sample(monkeypatch):
    """The seed and the update decide it, so a run that continues draws the same one.

    In small games a search finds all counterexamples; here, as in a large one, it
    returns a sample of them. The agent does not change, so without new random numbers
    the samples would be equal.
    """
    search = counterexamples.find_counterexamples

    def sample(config, params, rng, mesh, stop):
        grades, keys = search(config, params, rng, mesh, stop)
        return grades, rng.choice(keys, 4, replace=False)

    monkeypatch.setattr(counterexamples, "find_counterexamples", sample)
    config = Config.of(
        env_id="connect_4x4",
        start_share=0.5,
        eval_games=0,
        num_envs=4,
        hidden_size=8,
        num_updates=2,
        eval_every=1,
        learning_rate=1e-30,
        learning_rate_end=0.0,
    )

    def pools():
        """Return a run's positions where games start, after each evaluation."""
        return [
            np.asarray(pool.keys)[0, : int(np.asarray(pool.size)[0])].tolist()
            for step in run_of(config, 0)
            if step.evaluation is not None
            and (pool := step.state.train_state.pool) is not None
        ]

    of_run = pools()
    assert [len(pool) for pool in of_run] == [0, 4, 8]
    assert pools() == of_run


@pytest.mark.slow
def test_the_seconds_are_of_training_and_not_of_a_slow_reader():
    config = tiny.CONFIG.replace(num_updates=200, eval_every=200)
    *_, last = run_of(config, 3)  # loads the programs
    slept = 0
    for last in run_of(config, 3):  # noqa: B007
        time.sleep(1)
        slept += 1
    assert 0 < float(last.state.seconds) < slept / 2


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "table"])
def test_all_programs_are_compiled_before_the_first_step(preset):
    """No other test has these games, so nothing is compiled before."""
    config = PRESETS[preset].replace(num_envs=5, num_updates=4, eval_every=2)
    run = run_of(config, seed=1)
    next(run)
    with quick.compiled() as steps:
        assert [step.update for step in run] == [2, 2, 4, 4]
    assert steps == []
