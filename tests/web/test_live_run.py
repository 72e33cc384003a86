"""A live run: settings that change, games of people, and the one loop below it."""

import numpy as np
import pytest
import tiny
from quick import compiled

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn.finished_games import finished_game, learn_from_game
from jax_ttt.grading import counterexamples
from jax_ttt.players import saved_agents
from jax_ttt.training import loop
from jax_ttt.training.run_state import run_key
from jax_ttt.web.live_run import LiveRun
from jax_ttt.web.sliders import LEARNING

NETWORK = tiny.CONFIG.replace(eval_games=0, num_updates=16, eval_every=4)
TABLE = NETWORK.replace(network="table", hidden_size=128, learning_rate=0.5)
ROUNDS = PRESETS["connect-4x4"].replace(**tiny.FIELDS)
X_WINS = [0, 3, 1, 4, 2]
BOTH = pytest.mark.parametrize("config", [NETWORK, TABLE], ids=["network", "table"])


def rows_of(run, config):
    """Run all steps and return the rows."""
    rows = []
    while not rows or not run.is_over:
        run.step(config)
        rows += [] if run.row is None else [run.row]
    return rows


def first_wins(row):
    """Return the rate of wins as the first player in a row of the history."""
    return row["grade"]["first"]["win_rate"]


def same(a, b):
    assert a.tensors.keys() == b.tensors.keys()
    return all((a.tensors[name] == b.tensors[name]).all() for name in a.tensors)


@pytest.mark.parametrize("config", [TABLE, ROUNDS], ids=["table", "rounds"])
def test_its_weights_and_counts_are_those_of_train(config):
    run = LiveRun(config, 3)
    rows_of(run, config)
    *_, last = loop.train(loop.make_learner(config, 3), run_key(3))
    expected = saved_agents.tensors_of(last.params)
    for name, tensor in run.agent.tensors.items():
        np.testing.assert_array_equal(tensor, expected[name])
    assert run.agent.num_updates == run.update == config.run.num_updates
    assert run.figures["games"] == int(last.games)


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


@BOTH
def test_an_agent_stays_as_it_was_when_training_goes_on(config):
    run = LiveRun(config, 3)
    for _ in range(2):
        run.step(config)
    before, copies = run.agent, {n: x.copy() for n, x in run.agent.tensors.items()}
    rows_of(run, config)
    np.testing.assert_equal(before.tensors, copies)
    assert not same(run.agent, before)


def test_a_change_and_back_again_before_the_next_step_is_no_change():
    run, unchanged = LiveRun(NETWORK, 3), LiveRun(NETWORK, 3)
    run.step(NETWORK)
    run.learn([], NETWORK.replace(gamma=0.75))  # opens the loop again
    rows_of(run, NETWORK)
    rows_of(unchanged, NETWORK)
    assert same(run.agent, unchanged.agent)


@BOTH
def test_a_game_is_learned_as_if_directly_and_graded_at_the_same_update(config):
    run, direct = LiveRun(config, 3), LiveRun(config, 3)
    for _ in range(3):
        run.step(config)
        direct.step(config)
    before = run.agent
    run.learn([X_WINS, X_WINS], config)
    assert run.row is not None
    assert run.row["update"] == run.update == run.agent.num_updates == 4
    assert not same(run.agent, before)
    learner, state = loop.make_learner(config, 3), direct._state
    assert state is not None
    learned = state.train_state
    for number in range(2):
        game = finished_game(config.env_id, X_WINS, number)
        learned = learn_from_game(learner, learned, game)
    expected = saved_agents.tensors_of(learned.average_params)
    for name, tensor in run.agent.tensors.items():
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


def test_grades_are_those_after_the_last_game():
    """The proof must not be that of the agent before it learned."""
    run, expected = LiveRun(NETWORK, 3), LiveRun(NETWORK, 3)
    rows = rows_of(expected, NETWORK)
    rows_of(run, NETWORK)
    loud = NETWORK.replace(learning_rate=0.1, learning_rate_end=0.1)
    run.learn([X_WINS] * 20, loud)
    assert run.row is not None
    assert first_wins(rows[-1]) != pytest.approx(first_wins(run.row), abs=1e-3)
    assert rows[-1]["update"] == run.row["update"]


def test_a_grade_of_tic_tac_toe_has_lines_and_the_share_of_best_moves():
    run = LiveRun(TABLE, 3)
    (first, *_) = rows_of(run, TABLE)
    for seat in SEATS:
        grade = first["grade"][seat]
        assert 0 < grade["optimal_move_rate"] < 1
        assert grade["lines"].keys() == {"won", "drawn", "lost"}
        assert grade["unbeatable"] is False
        assert grade["losing_line"]
    assert run.agent.score.first is not None


def test_nothing_is_shown_or_learned_before_the_first_step():
    run = LiveRun(NETWORK, 3)
    assert run.figures["update"] == run.figures["games"] == 0
    assert run.figures["unbeatable"] is None
    assert not run.is_over
    with pytest.raises(ValueError, match="not begun"):
        run.learn([X_WINS], NETWORK)


def test_a_network_without_a_gradient_has_diverged():
    loud = NETWORK.replace(learning_rate=1000.0, learning_rate_end=1000.0)
    with pytest.raises(FloatingPointError, match="gradient is 0 by update"):
        rows_of(LiveRun(loud, 3), loud)


def test_a_round_of_counterexamples_tells_what_beats_the_agent():
    run = LiveRun(ROUNDS, 3)
    rows = rows_of(run, ROUNDS)
    assert [row["update"] for row in rows] == [0, 2, 4]
    for row in rows:
        for seat in SEATS:
            grade = row["grade"][seat]
            assert grade["num_positions"] > 0
            assert bool(grade["losing_ends"]) == ("losing_line" in grade)
    assert run.figures["unbeatable"] == {"x": False, "o": False}
    assert run.agent.score.searched.keys() == {*SEATS}


def test_a_search_for_counterexamples_ends_when_nobody_waits_for_it(monkeypatch):
    stops = []
    find = counterexamples.find

    def noted(config, params, rng, mesh, stop):
        stops.append(stop())
        return find(config, params, rng, mesh, stop)

    monkeypatch.setattr(counterexamples, "find", noted)
    run = LiveRun(ROUNDS, 3, lambda: bool(stops))
    run.step(ROUNDS)
    assert stops == [False]
    assert run.row is not None
    assert not run.agent.score.followed, "it was cut short"


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["table", "network"])
def test_games_of_people_do_not_undo_a_proof(learner, host_tree):
    config = LEARNING[learner].config
    run = LiveRun(config, 1)
    rows_of(run, config)
    assert run.figures["unbeatable"] == {"x": True, "o": True}
    assert run.update == config.run.num_updates, "a proof does not end it"
    rng = np.random.default_rng(0)
    for _ in range(10):
        position, moves = 0, []
        while not host_tree.terminal[position]:
            legal = np.flatnonzero(host_tree.legal_action_mask[position])
            moves.append(int(rng.choice(legal)))
            position = host_tree.successor[position, moves[-1]]
        run.learn([moves], config)
        assert run.figures["unbeatable"] == {"x": True, "o": True}
