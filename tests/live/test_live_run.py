"""A live run: settings that change, games of people, and the one loop below it."""

import jax
import numpy as np
import pytest
import tiny
from quick import compiled

from jax_ttt.live.live_run import LiveRun
from jax_ttt.live.sliders import LEARNERS, LEARNING

NETWORK = tiny.CONFIG.replace(eval_games=0, num_updates=16, eval_every=4)
TABLE = NETWORK.replace(network="table", hidden_size=128, learning_rate=0.5)
X_WINS = [0, 3, 1, 4, 2]
BOTH = pytest.mark.parametrize("config", [NETWORK, TABLE], ids=["network", "table"])


def whole(run, config):
    """Run all steps and return the agent and the rows."""
    latest, row = run.step(config)
    rows = [] if row is None else [row]
    while not run.is_over:
        latest, row = run.step(config)
        rows += [] if row is None else [row]
    return latest, rows


def first_wins(row):
    """Return the rate of wins as the first player in a row of the history."""
    return row["grade"]["first"]["win_rate"]


def same(a, b):
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all((np.asarray(x) == np.asarray(y)).all() for x, y in pairs)


def test_a_change_takes_effect_at_once_and_compiles_nothing():
    config = NETWORK
    changed = config.replace(
        learning_rate=0.25,
        learning_rate_end=0.25,
        gamma=0.75,
        epsilon_start=0.375,
        epsilon_end=0.375,
    )
    whole(LiveRun(config, 3), config)  # compiles everything
    run = LiveRun(config, 3)
    with compiled() as programs:
        for _ in range(3):
            run.step(config)
        run.step(changed)
        assert run.scheduled == {"learning_rate": 0.25, "epsilon": 0.375}
        latest, _ = whole(run, changed)
        assert run.scheduled == {"learning_rate": 0.25, "epsilon": 0.375}
    assert programs == []
    unchanged, _ = whole(LiveRun(config, 3), config)
    assert latest.update == unchanged.update
    assert not same(latest.params, unchanged.params)


def test_a_change_and_back_again_before_the_next_step_is_no_change():
    config = NETWORK
    run = LiveRun(config, 3)
    run.step(config)
    run.learn([], config.replace(gamma=0.75))  # opens the loop again
    latest, _ = whole(run, config)
    unchanged, _ = whole(LiveRun(config, 3), config)
    assert same(latest.params, unchanged.params)


@pytest.mark.slow
@BOTH
def test_a_game_is_learned_and_graded_at_the_same_update(config):
    run = LiveRun(config, 3)
    before, *_ = [run.step(config)[0] for _ in range(3)][::-1]
    after, row = run.learn([X_WINS, X_WINS], config)
    assert row is not None
    assert row["update"] == after.update == before.update == 4
    assert not same(after.params, before.params)
    assert run.figures["people_games"] == 2
    assert run.figures["games"] == row["games"]
    with compiled() as programs:
        run.learn([X_WINS], config.replace(gamma=0.75))
    assert programs == []
    latest, rows = whole(run, config)
    assert [row["update"] for row in rows] == [8, 12, 16]
    assert latest.update == 16
    run.learn([X_WINS], config)
    assert run.is_over


@pytest.mark.slow
def test_a_table_counts_the_positions_of_games_that_people_play():
    run = LiveRun(TABLE, 3)
    run.step(TABLE)
    assert run.figures["positions_learned"] == 0
    run.learn([X_WINS], TABLE)
    assert run.figures["positions_learned"] == 5


@pytest.mark.slow
def test_grades_are_those_after_the_last_game():
    """The proof must not be that of the agent before it learned."""
    run = LiveRun(NETWORK, 3)
    whole(run, NETWORK)
    loud = NETWORK.replace(learning_rate=0.1, learning_rate_end=0.1)
    after, row = run.learn([X_WINS] * 20, loud)
    assert row is not None
    assert first_wins(row) == pytest.approx(
        after.grade.followed["first"].win_rate, abs=1e-6
    )
    expected = LiveRun(NETWORK, 3)
    _, rows = whole(expected, NETWORK)
    assert first_wins(rows[-1]) != pytest.approx(first_wins(row), abs=1e-3)
    assert rows[-1]["update"] == row["update"]


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
        whole(LiveRun(loud, 3), loud)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_games_of_people_do_not_undo_a_proof(learner, host_tree):
    config = LEARNING[learner].config
    run = LiveRun(config, 1)
    whole(run, config)
    assert run.figures["unbeatable"] == {"x": True, "o": True}
    rng = np.random.default_rng(0)
    for _ in range(10):
        position, moves = 0, []
        while not host_tree.terminal[position]:
            legal = np.flatnonzero(host_tree.legal_action_mask[position])
            moves.append(int(rng.choice(legal)))
            position = host_tree.successor[position, moves[-1]]
        run.learn([moves], config)
        assert run.figures["unbeatable"] == {"x": True, "o": True}
