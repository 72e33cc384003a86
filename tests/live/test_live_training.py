"""Live training: its commands, its states, what it shows, and its end."""

import contextlib
import math
import threading
import time

import jax
import pytest
from jax_ttt.grading.history import measured_row

from jax_ttt.config.catalogue import SEATS, SIDES
from jax_ttt.config.errors import MoveError, SettingError, UsageError
from jax_ttt.config.ranges import Range
from jax_ttt.live import sliders
from jax_ttt.live.live_training import LiveTraining
from jax_ttt.live.sliders import LEARNING, Slider
from jax_ttt.training import graded_steps, loop
from jax_ttt.training.run_state import run_key
from jax_ttt.web import agent_data

WAIT = 120.0
"""Seconds that a test waits at most."""


@pytest.fixture
def tiny(monkeypatch):
    """Let both learners be small and short."""
    for learner, learning in LEARNING.items():
        config = learning.config.replace(num_envs=8, num_updates=20, eval_every=10)
        if learner == "network":
            config = config.replace(hidden_size=8)
        fields = {**vars(learning), "config": config}
        monkeypatch.setitem(sliders.LEARNING, learner, type(learning)(**fields))


@pytest.fixture
def training(tiny):
    """Return a training that computes as fast as it can, ended after the test."""
    made = LiveTraining(speed=math.inf)
    yield made
    made.close()


def until(training, *states):
    """Wait for one of these states and return the status."""
    end = time.monotonic() + WAIT
    while (status := training.status())["status"] not in states:
        assert time.monotonic() < end, status
        time.sleep(0.01)
    return status


BOTH = pytest.mark.parametrize(
    "learner", ["table", pytest.param("network", marks=pytest.mark.slow)]
)


@pytest.mark.slow
@BOTH
def test_a_run_ends_with_what_the_loop_of_a_command_gives(training, learner, host_tree):
    training.command("start", learner)
    status = until(training, "finished", "failed")
    config = LEARNING[learner].config
    seed = status["seed"]
    steps = loop.train(loop.make_learner(config, seed), run_key(seed))
    *_, (last, found) = graded_steps.with_grades(steps)
    assert status["error"] is None
    assert (status["learner"], status["update"]) == (learner, 20)
    assert status["games"] == int(last.games)
    assert status["wins"] == {"x": int(last.state.wins), "o": int(last.state.losses)}
    assert status["draws"] + sum(status["wins"].values()) == status["games"]
    assert [row["update"] for row in status["history"]] == [0, 10, 20]
    row = status["history"][-1]
    assert found.exact is not None
    for letter, seat in zip("xo", SEATS, strict=True):
        exact = found.exact.seat(seat)
        assert row[letter]["wins"] == exact.win_rate
        assert row[letter]["losses"] == exact.loss_rate
        assert status["unbeatable"][letter] == (exact.worst_loss_rate == 0)
    assert (status["positions_learned"] is None) == (learner == "network")
    agent = training.agent()
    assert agent is not None
    assert agent.score == found
    probs = agent_data.policy_of(host_tree, agent_data.action_values(agent))
    measured = measured_row(host_tree, 20, probs)
    for side in SIDES.values():
        assert row[side]["optimal"] == measured[side]["optimal"], "as of a snapshot"


@pytest.mark.slow
def test_the_agent_of_each_evaluation_can_be_had(training):
    training.command("start", "network")
    status = until(training, "finished")
    assert status["snapshots"] == [0, 10, 20]
    agents = [training.agent(update) for update in status["snapshots"]]
    assert [agent.num_updates for agent in agents] == [0, 10, 20]
    assert training.agent(7) is None
    assert agents[0].score != agents[2].score


def settled(training):
    """Return the updates of a run as soon as they stay the same for half a second."""
    before, after = None, training.status()["update"]
    while before != after:
        time.sleep(0.5)
        before, after = after, training.status()["update"]
    return after


@pytest.mark.slow
def test_a_pause_stops_the_updates_and_continue_goes_on(tiny):
    with contextlib.closing(LiveTraining(speed=0.2)) as training:
        training.command("start", "table")
        until(training, "running")
        training.command("pause")
        before = until(training, "paused")["update"]
        after = settled(training)
        assert after - before <= 10, "the chunk that was being computed"
        time.sleep(0.3)
        assert training.status()["update"] == after < 20
        training.command("continue")
        assert training.status()["status"] == "running"


def test_commands_that_do_not_fit_are_refused_and_change_nothing(training):
    for name in ("pause", "continue"):
        with pytest.raises(UsageError, match=name):
            training.command(name)
    with pytest.raises(SettingError, match="jump"):
        training.command("jump")
    with pytest.raises(SettingError, match="tree"):
        training.command("start", "tree")
    assert training.status()["status"] == "idle"
    training.command("start", "table")
    with pytest.raises(UsageError, match="reset it first"):
        training.command("start", "network")
    with pytest.raises(UsageError, match="table is in training"):
        training.command("pause", "network")
    assert training.status()["learner"] == "table"


@pytest.mark.slow
def test_a_reset_forgets_the_run_and_the_sliders(training):
    training.command("start", "table")
    training.change({"gamma": 0.7})
    until(training, "finished")
    training.command("reset")
    status = training.status()
    assert (status["status"], status["update"], status["history"]) == ("idle", 0, [])
    assert status["settings"]["gamma"] == {
        **{"value": 1.0, "min": 0.5, "max": 1},
        **{"default": 1.0, "moved": False},
    }
    assert training.agent() is None
    training.command("start")
    assert until(training, "finished")["seed"] == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"gamma": 2.0},
        {"epsilon": math.nan},
        {"epsilon": True},
        {"learning_rate": "1"},
        {"learn_from_people": 1},
        {"tau": 0.5},
    ],
)
def test_a_wrong_setting_is_refused_and_nothing_is_changed(training, settings):
    before = training.status()
    with pytest.raises(SettingError):
        training.change({"gamma": 0.9, **settings})
    assert training.status() == before


def test_a_reader_gets_every_row_once(training):
    box = training.subscribe()
    training.command("start", "table")
    rows = []
    while True:
        message = box.get(WAIT)
        assert "history" not in message
        rows += message["rows"]
        if message["status"] == "finished":
            break
    assert rows == training.status()["history"]
    training.unsubscribe(box)
    training.command("reset")
    assert box.empty()


X_WINS = [0, 3, 1, 4, 2]


def learned(training, num_games):
    """Wait until so many games of people were learned from; return the status."""
    end = time.monotonic() + WAIT
    while (status := training.status())["people_games"] < num_games:
        assert time.monotonic() < end, status
        time.sleep(0.01)
    return status


@BOTH
def test_it_learns_from_games_of_people_once_that_is_switched_on(training, learner):
    training.learn_game(X_WINS)  # there is no agent: nothing happens
    training.command("start", learner)
    until(training, "finished")
    training.learn_game(X_WINS)
    before = training.agent()
    training.change({"learn_from_people": True})
    training.learn_game(X_WINS)
    status = learned(training, 1)
    after = training.agent()
    assert before is not None
    assert after is not None
    assert status["people_games"] == 1, "not the game before it was switched on"
    assert (status["status"], status["update"]) == ("finished", 20)
    assert [row["update"] for row in status["history"]] == [0, 10, 20]
    leaves = zip(*map(jax.tree.leaves, (before.params, after.params)), strict=True)
    assert any((a != b).any() for a, b in leaves)
    kept = training.agent(20)
    assert kept is not None
    assert kept.score == after.score
    training.command("reset")
    status = training.status()
    assert (status["learn_from_people"], status["people_games"]) == (True, 0)


def test_it_learns_from_games_of_people_while_it_is_paused(tiny):
    with contextlib.closing(LiveTraining(speed=0.1)) as training:
        training.change({"learn_from_people": True})
        training.command("start", "table")
        until(training, "running")
        training.command("pause")
        for _ in range(3):
            training.learn_game(X_WINS)
        update = learned(training, 3)["update"]
        status = training.status()
        assert (status["status"], status["update"]) == ("paused", update)


@pytest.mark.parametrize("moves", [[0, 3, 1, 4], [0, 0, 1], [9], [-1], [*X_WINS, 5]])
def test_a_game_that_is_not_one_is_refused(training, moves):
    training.change({"learn_from_people": True})
    training.command("start", "table")
    with pytest.raises(MoveError):
        training.learn_game(moves)


@pytest.mark.slow
def test_a_run_that_diverges_says_why_and_a_reset_recovers(training, monkeypatch):
    learner = "network"
    wide = Slider(("learning_rate", "learning_rate_end"), Range(float, 0, 1000))
    monkeypatch.setitem(LEARNING[learner].sliders, "learning_rate", wide)
    training.command("reset", learner)
    training.change({"learning_rate": 1000.0})
    training.command("start", learner)
    status = until(training, "finished", "failed")
    assert status["status"] == "failed"
    assert "try a lower learning rate" in status["error"]
    assert training.agent() is not None, "the last one that was finite"
    with pytest.raises(UsageError):
        training.command("continue")
    training.command("reset")
    assert training.status()["error"] is None
    training.command("start", learner)
    assert until(training, "finished", "failed")["status"] == "finished"


def test_a_fault_of_any_kind_is_shown_and_the_thread_goes_on(training, monkeypatch):
    def broken(*args):
        raise RuntimeError("no luck")

    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", broken)
        training.command("start", "table")
        status = until(training, "failed")
    assert status["error"] == "no luck"
    training.command("start", "table")
    assert until(training, "finished", "failed")["status"] == "finished"


def test_its_end_waits_for_a_program_that_compiles(monkeypatch, tiny):
    begun, ends, compiled = threading.Event(), threading.Event(), []

    def compiling(*args):
        begun.set()
        ends.wait(WAIT)
        compiled.append(True)
        return iter(())

    monkeypatch.setattr(loop, "train", compiling)
    with contextlib.closing(LiveTraining()) as training:
        training.command("start", "table")
        assert begun.wait(WAIT)
        threading.Timer(0.3, ends.set).start()
        training.close()
        assert ends.is_set()
        names = [thread.name for thread in threading.enumerate()]
        assert "live training" not in names, "JAX must not compute while Python ends"
        with pytest.raises(UsageError):
            training.command("start")
