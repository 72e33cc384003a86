"""What a run writes as it trains, and when it saves its state."""

import dataclasses
import signal
from types import SimpleNamespace

import jax
import made
import numpy as np
import pytest
import tiny

from jax_ttt.files import checkpoint
from jax_ttt.files.run_folder import Plan, RunFolder, snapshots_in
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.players import saved_agents
from jax_ttt.runtime import distributed
from jax_ttt.runtime.interrupts import StopRequest
from jax_ttt.training import agent_batch, loop, run_start, run_state
from jax_ttt.training import recorder as recording
from jax_ttt.training.recorder import Recorder
from jax_ttt.training.run_state import RunStep

PLAN = Plan(config=tiny.CONFIG, preset="default", seed=3)


@pytest.fixture
def begin(tmp_path):
    """Return a function that makes a recorder of a new run, or of one `again`."""
    recorders = []

    def begin(every=0.0, plan=PLAN, again=False):
        run = RunFolder(tmp_path / str(len(recorders)))
        if again:
            run = recorders[-1].run
            recorders[-1].close()
        recorder = Recorder(run, plan, save_every=every, keep=9)
        recorders.append(recorder)
        if not again:
            recorder.begin()
        return recorder, run

    yield begin
    for recorder in recorders:
        recorder.close()


def steps(stop=lambda: False):
    learner = run_start.make_learner([PLAN.config], [PLAN.seed])
    state = run_start.first_state(learner, agent_batch.run_keys([PLAN.seed]))
    return loop.training_steps(learner, state, stop=stop)


def follow(recorder, run, request=None, show=lambda step: None):
    """Let a recorder follow a run's steps to their end; each is then shown."""
    request = StopRequest() if request is None else request
    with recorder.following(request):
        for step in run:
            recorder.add(step, request)
            show(step)


def updates(run):
    """Return the updates of the checkpoints, ascending."""
    return [int(p.stem.split("-")[1]) for p in run.checkpoints()][::-1]


def test_a_state_is_saved_when_it_is_due(begin, monkeypatch):
    """By a clock that can't jump back."""
    now = [0.0]
    monkeypatch.setattr(
        recording, "time", SimpleNamespace(monotonic=lambda: now[0], time=None)
    )
    recorder, run = begin(every=5.0)
    saved = []

    def timed():
        for now[0], step in zip((0, 4.9, 5.0, 9.9, 10.0), steps(), strict=True):
            yield step
            saved.append(updates(run))

    follow(recorder, timed())
    assert saved == [[], [], [2], [2], [2, 4]]


def test_without_a_schedule_a_state_is_saved_at_the_end(begin):
    recorder, run = begin(every=0.0)
    follow(recorder, steps())
    assert updates(run) == [4]
    assert recorder.latest_path == run.checkpoint(4)
    assert checkpoint.newest_checkpoint(run).checkpoint.finished == "end"


def test_a_request_to_stop_saves_at_once(begin):
    recorder, run = begin()
    request = StopRequest()
    saved = []

    def until_requested():
        for number, step in enumerate(steps(lambda: bool(request))):
            saved.append(updates(run))
            if number == 1:
                request.handle(signal.SIGINT, None)
            yield step

    follow(recorder, until_requested(), request)
    assert saved[1:3] == [[], [2]]
    assert checkpoint.newest_checkpoint(run).checkpoint.finished is None
    assert recorder.last_step.update == recorder.agent.num_updates == 2


@pytest.mark.parametrize("update", [0, 2])
@pytest.mark.fault
def test_a_step_that_cannot_be_shown_does_not_cost_the_state(update, begin):
    recorder, run = begin()

    def show(step):
        if step.update == update and step.evaluation is not None:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        follow(recorder, steps(), show=show)
    assert updates(run) == [update]
    assert checkpoint.newest_checkpoint(run).checkpoint.evaluated == update
    assert [row.update for row in run.rows()] == ([0] if not update else [0, 2, 2])
    assert run.agent.exists()


@pytest.mark.fault
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (MemoryError(), "out of memory"),
    ],
)
def test_a_state_that_cannot_be_saved_is_a_warning(
    error, reason, begin, monkeypatch, capsys
):
    def full(*_):
        raise error

    recorder, run = begin(every=1e-9)
    monkeypatch.setattr(run_state, "copy_to_host", full)
    follow(recorder, steps())
    assert updates(run) == []
    assert run.agent.exists()
    lines = capsys.readouterr().err.splitlines()
    assert set(lines) == {f"warning: no checkpoint was saved: {reason}"}


@pytest.mark.fault
def test_a_run_that_diverges_names_its_last_good_state(begin):
    recorder, run = begin(every=1e-9)

    def diverging():
        for step in steps():
            yield step
            if step.update == 2 and step.evaluation is not None:
                raise FloatingPointError("training diverged: why")

    with pytest.raises(FloatingPointError) as error:
        follow(recorder, diverging())
    assert str(error.value) == (
        f"training diverged: why; the last good checkpoint is {run.checkpoint(2)}"
    )
    assert updates(run) == [2]
    assert not run.agent.exists()


def test_a_run_that_another_process_interrupts_is_not_finished(begin, monkeypatch):
    monkeypatch.setattr(
        distributed, "max_over_processes", lambda number: max(number, 1)
    )
    recorder, run = begin()
    follow(recorder, steps(lambda: True))
    assert checkpoint.newest_checkpoint(run).checkpoint.finished is None


def test_the_steps_are_rows_and_the_last_agent_is_saved(begin):
    recorder, run = begin(plan=dataclasses.replace(PLAN, snapshots=True))
    follow(recorder, steps())
    assert [(row.event, row.update) for row in run.rows()] == [
        ("evaluation", 0),
        ("chunk", 2),
        ("evaluation", 2),
        ("chunk", 4),
        ("evaluation", 4),
    ]
    agent = saved_agents.load_agent(run.path)
    assert (agent.num_updates, agent.seed) == (4, 3)
    assert agent.grade == recorder.grade == run.rows()[-1].grade
    assert list(snapshots_in(run.snapshots)) == [0, 2, 4]
    assert run.snapshot(4).read_bytes() == run.agent.read_bytes()


@pytest.mark.fault
def test_a_snapshot_that_cannot_be_written_is_a_warning(begin, capsys):
    recorder, run = begin(plan=dataclasses.replace(PLAN, snapshots=True))
    run.snapshot(2).mkdir(parents=True)  # a folder has its name
    follow(recorder, steps())
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("warning: ")
    assert str(run.snapshot(2)) in err
    assert run.snapshot(4).is_file()
    assert run.agent.is_file()


@pytest.mark.fault
def test_a_recorder_that_does_not_write_makes_no_file(tmp_path):
    """Where several processes train one run, only one of them writes."""
    run = RunFolder(tmp_path / "run")
    plan = dataclasses.replace(PLAN, snapshots=True)
    recorder = Recorder(run, plan, save_every=1e-9, keep=1, writes=False)
    recorder.begin()
    follow(recorder, steps())
    recorder.close()
    assert recorder.latest_path == run.checkpoint(4)
    assert not run.path.exists()


SEARCHED = dataclasses.replace(
    PLAN,
    config=PLAN.config.replace(
        env_id="connect_4x4", start_share=0.5, num_updates=6, eval_every=2
    ),
)


def graded(losing_ends):
    """Return the grade of a search."""
    seat = made.reached(losing_ends=losing_ends)
    return made.grade({"first": seat, "second": made.reached()})


def searched(grades):
    """Yield the evaluations of a run, every two updates, with each of these grades."""
    first = next(steps())
    params = jax.tree.map(
        lambda leaf: leaf[None], tiny.untrained(SEARCHED.config).params
    )
    learned = dataclasses.replace(first.state.train_state, average_params=params)
    for number, grade in enumerate(grades):
        update = np.int64(2 * number)
        state = dataclasses.replace(
            first.state, train_state=learned, updates_done=update, evaluated=update
        )
        evaluation = Evaluation(None, None, {**grade.searched})
        yield RunStep(state, None, evaluation, weights=params)


def test_a_run_that_continues_knows_its_last_grade(begin):
    recorder, run = begin(plan=SEARCHED)
    grades = [graded(9), graded(2), graded(5)]
    follow(recorder, searched(grades))
    again, _ = begin(plan=SEARCHED, again=True)
    *_, last = searched(grades)
    again.resume(checkpoint.newest_checkpoint(run), last)
    assert (again.grade, again.latest_path) == (grades[-1], run.checkpoint(4))
    assert again.agent.num_updates == 4
