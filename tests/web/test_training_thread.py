"""Live training: its commands, its states, what it shows, and its end."""

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import served
from marks import mark_slow

from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.files import tensor_file
from jax_ttt.files.tensor_file import AgentDescription
from jax_ttt.training import loop
from jax_ttt.web.sliders import LEARNERS, LEARNING, Slider
from jax_ttt.web.training_thread import INITIAL_FIGURES, Training, WrongStateError

WAIT = 120.0
"""Seconds that a test waits at most."""
X_WINS = [0, 3, 1, 4, 2]
ALL = pytest.mark.parametrize(
    "learner",
    [
        "table",
        pytest.param("network", marks=pytest.mark.slow),
        pytest.param("connect-4x4", marks=pytest.mark.slow),
    ],
)


def until(training, *states) -> dict[str, Any]:
    """Wait for one of these states and return the status."""
    served.wait_until(lambda: training.status()["status"] in states, WAIT)
    return training.status()


def rates(training):
    """Return the rates of wins as the first player, by update."""
    _, rows = training.status_with_rows()
    return {row["update"]: row["grade"]["first"]["win_rate"] for row in rows}


@pytest.fixture
def agent(training, tmp_path):
    """Return a function that reads the file of the agent in training."""

    def read(update=None):
        path = tmp_path / "live.safetensors"
        path.write_bytes(training.content(training.status()["agent"], update))
        description, tensors = tensor_file.read_tensors(path, AgentDescription)
        return SimpleNamespace(description=description, tensors=tensors)

    return read


@ALL
def test_a_run_is_shown_to_its_end(training, agent, learner):
    training.command("start", learner)
    status = until(training, "finished", "failed")
    config = LEARNING[learner].config
    assert status["error"] is None
    assert (status["learner"], status["update"]) == (learner, 20)
    assert (status["env_id"], status["num_updates"]) == (config.env_id, 20)
    assert status["draws"] + sum(status["wins"].values()) == status["games"] > 0
    assert status["loss"] > 0
    assert (status["positions_learned"] is None) == (learner != "table")
    assert status.keys() > INITIAL_FIGURES.keys()
    assert not any(slider["moved"] for slider in status["settings"].values())
    rate = status["settings"]["learning_rate"]
    assert rate["value"] < rate["default"] or learner != "network", "its schedule"
    assert [*rates(training)] == [0, 10, 20] == status["snapshots"]
    final = agent()
    described = final.description
    assert (described.num_updates, described.seed, described.config) == (20, 1, config)
    first, last = agent(0), agent(20)
    assert first.description.num_updates == 0
    assert any((first.tensors[n] != final.tensors[n]).any() for n in final.tensors)
    assert all((last.tensors[n] == final.tensors[n]).all() for n in final.tensors)
    assert described.grade.first is not None
    assert described.grade.first.win_rate == rates(training)[20]
    assert status["evaluations"] == 3
    assert status["from_people"] == LEARNING[learner].from_people
    with pytest.raises(KeyError):
        training.content(status["agent"], 7)
    listed = training.agent_entry()
    assert listed["id"] == status["agent"]
    assert (listed["env_id"], listed["updates"]) == (config.env_id, 20)
    assert listed["kind"] == ("table" if learner == "table" else "network")
    if learner == "connect-4x4":
        training.change({"learn_from_people": True})
        with pytest.raises(WrongStateError, match="does not learn from people"):
            training.learn([0, 1, 0, 1, 0, 1, 0])


def test_the_page_gets_each_learner_in_words(training):
    learners = training.status()["learners"]
    assert [learner["id"] for learner in learners] == [*LEARNERS]
    assert all(learner["title"] and learner["help"] for learner in learners)
    for learner in learners:
        training.command("reset", learner["id"])
        assert training.status()["learner"] == learner["id"]


def test_commands_that_do_not_fit_are_refused_and_change_nothing(training):
    for name in ("pause", "continue"):
        with pytest.raises(Refused, match=name):
            training.command(name)
    with pytest.raises(SettingError, match="jump"):
        training.command("jump")
    with pytest.raises(SettingError, match="tree"):
        training.command("start", "tree")
    assert training.status()["status"] == "idle"
    training.command("start", "table")
    with pytest.raises(WrongStateError, match="reset it first"):
        training.command("start", "network")
    assert training.status()["learner"] == "table"
    # A pause before the last step does not hide the end.
    training.command("pause")
    until(training, "paused")
    training.command("continue")
    assert until(training, "finished")["update"] == 20
    with pytest.raises(WrongStateError, match="pause"):
        training.command("pause")


@pytest.mark.slow
def test_a_reset_forgets_the_run_and_the_sliders(training, agent):
    training.command("start", "table")
    training.change({"gamma": 0.7})
    until(training, "finished")
    agent_id = training.status()["agent"]
    assert training.content(agent_id)
    training.command("reset")
    status, rows = training.status_with_rows()
    assert (status["status"], status["update"], rows) == ("idle", 0, [])
    assert (status["run"], status["agent"]) == (0, None)
    assert status["settings"]["gamma"] == {
        **{"value": 1.0, "min": 0.5, "max": 1},
        **{"default": 1.0, "moved": False},
    }
    assert training.agent_entry() is None
    training.command("start")
    status = until(training, "finished")
    assert (status["run"], agent().description.seed) == (2, 2)
    assert status["agent"] != agent_id
    with pytest.raises(KeyError):
        training.content(agent_id)


@pytest.mark.parametrize(
    "learner", ["table", pytest.param("connect-4x4", marks=pytest.mark.slow)]
)
def test_a_slider_that_was_moved_sets_what_is_learned_with(training, agent, learner):
    training.command("reset", learner)
    training.change({"learning_rate": 0.015, "gamma": 0.6, "epsilon": 0.25})
    training.command("start", learner)
    settings = until(training, "finished")["settings"]
    values = {name: slider["value"] for name, slider in settings.items()}
    assert values == {"learning_rate": 0.015, "gamma": 0.6, "epsilon": 0.25}
    assert all(slider["moved"] for slider in settings.values())
    config = agent().description.config
    assert config.learning_rate == config.learning_rate_end == 0.015
    assert config.gamma == 0.6
    assert config.epsilon_start == config.epsilon_end == 0.25


@pytest.mark.parametrize("learner", mark_slow(["table", "network"], "network"))
def test_it_learns_from_games_of_people_once_that_is_switched_on(
    training, agent, learner
):
    with pytest.raises(WrongStateError, match="no agent"):
        training.learn(X_WINS)
    training.command("start", learner)
    until(training, "finished")
    with pytest.raises(WrongStateError, match="switched off"):
        training.learn(X_WINS)
    before = agent()
    training.change({"learn_from_people": True})
    for moves in ([0, 3, 1, 4], [0, 0, 1], [9], [-1], [*X_WINS, 5], [], [3] * 4):
        with pytest.raises(Refused):
            training.learn(moves)
    training.learn(X_WINS)
    served.wait_until(lambda: training.status()["people_games"] == 1, WAIT)
    status, after = training.status(), agent()
    assert (status["status"], status["update"]) == ("finished", 20)
    assert [*rates(training)] == [0, 10, 20]
    assert any((before.tensors[n] != after.tensors[n]).any() for n in after.tensors)
    np.testing.assert_equal(agent(20).tensors, after.tensors)
    training.command("reset")
    status = training.status()
    assert (status["learn_from_people"], status["people_games"]) == (True, 0)


@pytest.mark.slow
def test_a_run_that_diverges_says_why_and_a_reset_recovers(training, monkeypatch):
    wide = Slider(("learning_rate", "learning_rate_end"), low=0, high=1000)
    monkeypatch.setitem(LEARNING["network"].sliders, "learning_rate", wide)
    training.command("reset", "network")
    training.change({"learning_rate": 1000.0})
    training.command("start", "network")
    status = until(training, "finished", "failed")
    assert status["status"] == "failed"
    assert "try a lower learning rate" in status["error"]
    assert training.content(status["agent"]), "the last one that was finite"
    with pytest.raises(Refused):
        training.command("continue")
    training.command("reset")
    assert training.status()["error"] is None
    training.command("start", "network")
    assert until(training, "finished", "failed")["status"] == "finished"


def test_a_fault_of_any_kind_is_shown_and_the_thread_goes_on(
    training, monkeypatch, capfd
):
    def broken(*args, **options):
        raise RuntimeError("no luck")

    with monkeypatch.context() as patch:
        patch.setattr(loop, "training_steps", broken)
        training.command("start", "table")
        status = until(training, "failed")
    assert status["error"] == "no luck"
    err = capfd.readouterr().err
    assert "Traceback" in err
    assert "RuntimeError: no luck" in err
    training.command("start", "table")
    assert until(training, "finished", "failed")["status"] == "finished"


@pytest.mark.parametrize("error", [Refused, FloatingPointError])
def test_what_is_no_fault_is_shown_without_a_traceback(files, small, capfd, error):
    def absent(config, seed, stop):
        raise error("--device must be another one")

    with contextlib.closing(Training(files, absent)) as training:
        training.command("start", "table")
        status = until(training, "failed")
        assert status["error"] == "--device must be another one"
    assert capfd.readouterr().err == ""


def test_its_end_keeps_the_agent_under_a_name(training, files, agent, capfd):
    training.command("start", "table")
    until(training, "finished")
    content = training.content(training.status()["agent"])
    assert training.close()
    assert "table-1-20" in capfd.readouterr().err
    assert files.content("kept/table-1-20") == content
    assert training.status()["status"] == "idle"
    training.close()
    with pytest.raises(KeyError):
        files.content("kept/table-1-20-2")
    with pytest.raises(WrongStateError, match="about to end"):
        training.command("start")


def test_a_disk_that_is_full_is_told_at_the_end(training, files, monkeypatch, capfd):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "keep", full)
    training.command("start", "table")
    until(training, "finished")
    training.close()
    assert "was not kept: [Errno 28]" in capfd.readouterr().err
