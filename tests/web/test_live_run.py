"""A live run: settings that change, games of people, and the one loop below it."""

import jax
import numpy as np
import pytest
import tiny
from forged import Forgery
from quick import compiled

from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn.finished_games import finished_game, learn_from_game
from jax_ttt.dqn.learner import DQN
from jax_ttt.grading import counterexamples
from jax_ttt.players import saved_agents
from jax_ttt.training import agent_batch, loop, run_start
from jax_ttt.web.live_run import LiveRun
from jax_ttt.web.sliders import LEARNING

pytestmark = pytest.mark.slow

NETWORK = tiny.CONFIG.replace(eval_games=0, num_updates=16, eval_every=4)
TABLE = NETWORK.replace(network="table", hidden_size=128, learning_rate=0.5)
ROUNDS = PRESETS["connect-4x4"].replace(**tiny.FIELDS)
X_WINS = [0, 3, 1, 4, 2]


def rows_of(run, config):
    """Run all steps and return the rows."""
    rows = []
    while not rows or not run.is_over:
        run.step(config)
        rows += [] if run.row is None else [run.row]
    return rows


def same(a, b):
    """Return whether two agents' files have the same weights."""
    a, b = Forgery(a).tensors, Forgery(b).tensors
    assert a.keys() == b.keys()
    return all((a[name] == b[name]).all() for name in a)


@pytest.mark.parametrize("config", [TABLE, ROUNDS], ids=["table", "rounds"])
def test_its_weights_and_counts_are_those_of_train(config):
    run = LiveRun(config, 3)
    rows_of(run, config)
    learner = run_start.make_learner([config], [3])
    state = run_start.first_state(learner, agent_batch.run_keys([3]))
    *_, last = loop.training_steps(learner, state)
    expected = saved_agents.params_as_tensors(last.params())
    for name, tensor in Forgery(run.agent).tensors.items():
        np.testing.assert_array_equal(tensor, expected[name])
    assert run.update == config.num_updates
    assert Forgery(run.agent).description["num_updates"] == run.update
    assert run.figures["games"] == last.state.counts.games[0]


def test_a_change_takes_effect_at_once_and_compiles_nothing():
    config = NETWORK
    changed = config.replace(
        learning_rate=0.25,
        learning_rate_end=0.25,
        gamma=0.75,
        epsilon_start=0.375,
        epsilon_end=0.375,
    )
    unchanged = LiveRun(config, 3)
    rows_of(unchanged, config)  # compiles everything
    run = LiveRun(config, 3)
    with compiled() as programs:
        for _ in range(3):
            run.step(config)
        run.step(changed)
        assert run.scheduled == {"learning_rate": 0.25, "epsilon": 0.375}
        rows_of(run, changed)
        assert run.scheduled == {"learning_rate": 0.25, "epsilon": 0.375}
    assert programs == []
    assert run.update == unchanged.update
    assert not same(run.agent, unchanged.agent)


@pytest.mark.parametrize("config", [NETWORK, TABLE], ids=["network", "table"])
def test_a_game_is_learned_as_if_directly_and_graded_at_the_same_update(config):
    run, direct = LiveRun(config, 3), LiveRun(config, 3)
    for _ in range(3):
        run.step(config)
        direct.step(config)
    before = run.agent
    run.learn([X_WINS, X_WINS], config)
    assert run.row is not None
    assert run.row["update"] == run.update == 4
    assert Forgery(run.agent).description["num_updates"] == 4
    assert not same(run.agent, before)
    learner, state = DQN.of(config), direct._state
    assert state is not None
    learned = jax.jit(agent_batch.only_agent)(state.train_state)
    for number in range(2):
        game = finished_game(config.env_id, X_WINS, number)
        learned = jax.jit(learn_from_game)(learner, learned, game)
    expected = saved_agents.params_as_tensors(learned.average_params)
    for name, tensor in Forgery(run.agent).tensors.items():
        np.testing.assert_allclose(tensor, expected[name], atol=1e-6)
    assert run.figures["people_games"] == 2
    assert run.figures["games"] == run.row["games"]
    with compiled() as programs:
        run.learn([X_WINS], config.replace(gamma=0.75))
    assert programs == []
    rows = rows_of(run, config)
    assert [row["update"] for row in rows] == [8, 12, 16]
    run.learn([X_WINS], config)
    assert run.is_over


def test_a_table_counts_the_positions_of_games_that_people_play():
    run = LiveRun(TABLE, 3)
    run.step(TABLE)
    assert run.figures["positions_learned"] == 0
    run.learn([X_WINS], TABLE)
    assert run.figures["positions_learned"] == 5


def test_a_network_without_a_gradient_has_diverged():
    loud = NETWORK.replace(learning_rate=1000.0, learning_rate_end=1000.0)
    with pytest.raises(FloatingPointError, match="gradient is 0 by update"):
        rows_of(LiveRun(loud, 3), loud)


def test_a_search_for_counterexamples_ends_when_nobody_waits_for_it(monkeypatch):
    stops = []
    find = counterexamples.find_counterexamples

    def noted(config, params, rng, mesh, stop):
        stops.append(stop())
        return find(config, params, rng, mesh, stop)

    monkeypatch.setattr(counterexamples, "find_counterexamples", noted)
    run = LiveRun(ROUNDS, 3, lambda: bool(stops))
    run.step(ROUNDS)
    assert stops == [False]
    assert run.row is not None
    assert "first" not in Forgery(run.agent).description["grade"], "it was cut short"


def test_games_of_people_do_not_undo_a_proof(host_tree):
    config = LEARNING["network"].config
    run = LiveRun(config, 1)
    rows_of(run, config)
    assert run.figures["unbeatable"] == {"x": True, "o": True}
    assert run.update == config.num_updates, "a proof does not end it"
    rng = np.random.default_rng(0)
    for _ in range(10):
        position, moves = 0, []
        while not host_tree.terminal[position]:
            legal = np.flatnonzero(host_tree.legal_action_mask[position])
            moves.append(int(rng.choice(legal)))
            position = host_tree.successor[position, moves[-1]]
        run.learn([moves], config)
        assert run.figures["unbeatable"] == {"x": True, "o": True}
