"""When a run saves its state, and what is lost where a file can't be written.

What it saves, and how a run continues from it: `test_resume.py`, `test_run_files.py`.
"""

from types import SimpleNamespace

import commands
import pytest
import tiny

from jax_ttt.files.run_folder import RunFolder
from jax_ttt.training import recorder as recording
from jax_ttt.training import run_state

train = commands.module_of("train")


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "run")


def trained(run, *flags, **options):
    """Train, and return what is printed."""
    words = [*tiny.flags(), "--quiet", "--run-dir", run.path, *flags]
    return commands.run(train, *words, **options)


def updates(run):
    """Return the updates of the checkpoints, ascending."""
    return [int(p.stem.split("-")[1]) for p in run.checkpoints()][::-1]


def test_a_state_is_saved_when_it_is_due(run, monkeypatch):
    """By a clock that can't jump back."""
    clock = iter((0.0, 4.9, 5.0, 9.9, 10.0))
    now, saved = [0.0], []
    monkeypatch.setattr(
        recording, "time", SimpleNamespace(monotonic=lambda: now[0], time=None)
    )

    def on_step(step):
        saved.append(updates(run))
        now[0] = next(clock)

    trained(run, "--checkpoint-every", 5, on_step=on_step)
    assert saved == [[], [], [], [2], [2]]
    assert updates(run) == [2, 4]


@pytest.mark.fault
@pytest.mark.parametrize(
    ("error", "every", "code", "text"),
    [
        # It saves the state that was not due; a run that diverges saves nothing.
        (OSError(28, "No space left on device"), 0, 1, "No space left on device"),
        (FloatingPointError("why"), 1e-9, 3, "why; the last good checkpoint is {}"),
    ],
)
def test_an_error_does_not_cost_the_last_good_state(error, every, code, text, run):
    def fail():
        raise error

    on_step = commands.at_step(4, fail)
    done = trained(run, "--checkpoint-every", every, on_step=on_step, code=code)
    assert text.format(run.checkpoint(2)) in done.err
    assert updates(run) == [2]
    assert run.agent.exists() == (code == 1)


@pytest.mark.fault
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (MemoryError(), "out of memory"),
    ],
)
def test_a_state_that_cannot_be_saved_is_a_warning(error, reason, run, monkeypatch):
    def full(*_):
        raise error

    monkeypatch.setattr(run_state, "copy_to_host", full)
    lines = trained(run, "--checkpoint-every", 1e-9).err.splitlines()
    assert updates(run) == []
    assert run.agent.exists()
    assert set(lines) == {f"warning: no checkpoint was saved: {reason}"}


@pytest.mark.fault
def test_a_snapshot_that_cannot_be_written_is_a_warning(run):
    def block():
        run.snapshot(2).mkdir(parents=True)  # a folder has its name

    (line,) = trained(run, on_step=commands.at_step(1, block)).err.splitlines()
    assert line.startswith("warning: ")
    assert str(run.snapshot(2)) in line
    assert run.snapshot(4).read_bytes() == run.agent.read_bytes()
