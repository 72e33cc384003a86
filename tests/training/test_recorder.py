"""What a run writes as it trains, and when it saves its state."""

import signal
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.checkpoints import recorder as recording
from jax_ttt.checkpoints import saved
from jax_ttt.checkpoints.contents import Plan
from jax_ttt.checkpoints.loggers import Loggers
from jax_ttt.checkpoints.recorder import Recorder, Schedule
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.scaling import processes
from jax_ttt.training import graded_steps, loop
from jax_ttt.training.run_folder import RunFolder
from jax_ttt.training.run_state import Best, Progress, run_key

PLAN = Plan(config=tiny.CONFIG, preset="default", seed=3)


class Shown(SimpleNamespace):
    """Shows nothing; `broken` is the update at which it can't."""

    broken = None
    position: dict[str, object] = {}  # noqa: RUF012

    def show(self, progress, grades):
        if progress.update == self.broken and progress.evaluation is not None:
            raise BrokenPipeError


@pytest.fixture
def begun(tmp_path):
    """Return a function that makes a recorder; all are closed at the end."""
    folders = []

    def begin(every=0.0, keep=9, shown=None):
        folders.append(RunFolder(tmp_path / str(len(folders))))
        args = folders[-1], shown or Shown(), Loggers({}), Schedule(every, keep)
        return Recorder(PLAN, *args), folders[-1].path

    yield begin
    for folder in folders:
        folder.close()


def steps(stop=lambda: False):
    learner = loop.make_learner(PLAN.config, PLAN.seed)
    run = loop.train(learner, run_key(PLAN.seed), stop=stop)
    return graded_steps.with_grades(run)


def updates(path):
    return [int(p.stem.split("-")[1]) for p in saved.paths(path)][::-1]


def test_a_state_is_saved_when_it_is_due(begun, monkeypatch):
    """By a clock that can't jump back."""
    now = [0.0]
    monkeypatch.setattr(
        recording, "time", SimpleNamespace(monotonic=lambda: now[0], time=None)
    )
    recorder, path = begun(every=5.0)
    found = []

    def timed():
        for now[0], step in zip((0, 4.9, 5.0, 9.9, 10.0), steps(), strict=True):
            yield step
            found.append(updates(path))

    recorder.follow(timed(), StopRequest())
    assert found == [[], [], [2], [2], [2, 4]]


def test_never_means_only_at_the_end(begun):
    recorder, path = begun(every=0.0)
    seen = []

    def watched():
        for step in steps():
            seen.append(updates(path))
            yield step

    recorder.follow(watched(), StopRequest())
    assert seen == [[]] * 5
    assert updates(path) == [4]
    assert recorder.latest == saved.path_of(path, 4)
    assert saved.newest(path).checkpoint.finished == "end"


def test_a_request_to_stop_saves_at_once(begun):
    recorder, path = begun()
    request = StopRequest()
    found = []

    def until_requested():
        for number, step in enumerate(steps(lambda: bool(request))):
            found.append(updates(path))
            if number == 1:
                request.handle(signal.SIGINT, None)
            yield step

    recorder.follow(until_requested(), request)
    assert found[1:3] == [[], [2]]
    assert saved.newest(path).checkpoint.finished is None
    assert recorder.progress.update == recorder.agent.num_updates == 2


@pytest.mark.parametrize("update", [0, 2])
@pytest.mark.fault
def test_a_line_that_can_not_be_shown_does_not_cost_the_state(update, begun):
    recorder, path = begun(shown=Shown(broken=update))
    with pytest.raises(BrokenPipeError):
        recorder.follow(steps(), StopRequest())
    assert updates(path) == [update]
    found = saved.newest(path).checkpoint
    assert found.positions.metrics == (path / "metrics.jsonl").stat().st_size
    assert (path / "agent.safetensors").exists()


@pytest.mark.fault
@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (MemoryError(), "out of memory"),
    ],
)
def test_a_state_that_can_not_be_saved_is_a_warning(
    error, why, begun, monkeypatch, capsys
):
    def full(*args):
        raise error

    monkeypatch.setattr(saved, "save_checkpoint", full)
    recorder, path = begun(every=1e-9)
    recorder.follow(steps(), StopRequest())
    assert updates(path) == []
    assert (path / "agent.safetensors").exists()
    lines = capsys.readouterr().err.splitlines()
    assert set(lines) == {f"warning: no checkpoint was saved: {why}"}


@pytest.mark.fault
def test_a_run_that_diverges_names_its_last_good_state(begun):
    recorder, path = begun(every=1e-9)

    def diverging():
        for step in steps():
            yield step
            if step[0].update == 2 and step[0].evaluation is not None:
                raise FloatingPointError("training diverged: why")

    with pytest.raises(FloatingPointError) as error:
        recorder.follow(diverging(), StopRequest())
    good = saved.path_of(path, 2)
    assert str(error.value) == (
        f"training diverged: why; the last good checkpoint is {good}"
    )
    assert updates(path) == [2]
    assert not (path / "agent.safetensors").exists()


def test_metrics_are_on_the_disk_before_a_checkpoint_counts_them(begun, monkeypatch):
    order, recorder = [], begun()[0]
    sync, save = RunFolder.sync, saved.save_checkpoint
    monkeypatch.setattr(RunFolder, "sync", lambda f: (order.append("sync"), sync(f)))
    monkeypatch.setattr(
        saved, "save_checkpoint", lambda *a: (order.append("save"), save(*a))[1]
    )
    recorder.follow(steps(), StopRequest())
    assert order == ["sync", "save"]


def test_a_state_whose_arrays_are_gone_is_not_saved(begun):
    recorder, path = begun()
    run = steps()
    next(run)
    state = next(run)[0].state
    recorder._note(state)
    for leaf in jax.tree.leaves(state.train_state):
        leaf.delete()
    recorder.save()
    assert updates(path) == []


def test_a_run_that_another_process_interrupts_is_not_finished(begun, monkeypatch):
    monkeypatch.setattr(processes, "max_over_processes", lambda number: max(number, 1))
    recorder, path = begun()
    recorder.follow(steps(lambda: True), StopRequest())
    assert saved.newest(path).checkpoint.finished is None


@pytest.mark.parametrize(
    ("update", "best_update", "losing_ends", "is_best"),
    [
        (6, 6, 5.0, True),
        (6, 3, 5.0, False),
        (6, 6, np.nan, False),  # a search was cut, or a signal ended it
        (0, 0, 5.0, False),  # untrained
    ],
)
def test_the_best_agent_is_trained_and_its_searches_are_complete(
    update, best_update, losing_ends, is_best
):
    params: Any = None
    results = np.array(False), np.array(losing_ends), np.array(0.5)
    best = Best(np.array(best_update), *results, params)
    state: Any = SimpleNamespace(best=best, update=np.array(update))
    evaluation = Evaluation(None, None, None)
    progress = Progress(state, None, evaluation)
    assert recording._is_best(progress) == is_best
