"""Signals to a process that trains: what it saves and prints, and when it ends."""

import contextlib
import importlib
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jax_ttt.players import agents
from jax_ttt.runtime import interrupts

train = importlib.import_module("jax_ttt.train")

SMALL = "--num-envs 8 --hidden-size 8 --eval-games 8 --num-updates 1000000000"
# Compiling takes seconds, and so does each chunk.
LARGE = "--num-envs 16384 --hidden-size 512 --eval-games 8 --no-compile-cache"
ROW = "beatable"  # in the row of the first evaluation
LOST = "error: interrupted twice: nothing was saved, the training is lost"


@contextlib.contextmanager
def training(path, flags, before="", stream: int = subprocess.PIPE):
    """Train in a process of its own, and end it after the test."""
    command = f'{before} exec "$0" -m jax_ttt.train --run-dir "$1" {flags}'
    process = subprocess.Popen(
        ["sh", "-c", command, sys.executable, str(path)],
        stdout=stream,
        stderr=stream,
        text=True,
        start_new_session=True,
        env=os.environ
        | {
            "PYTHONPATH": str(Path(str(train.__file__)).parents[1]),
            "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        },
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(happened):
    for _ in range(600):
        if happened():
            return
        time.sleep(0.1)
    raise TimeoutError


def trains(path):
    """Return whether the first chunk of training has ended."""
    metrics = path / "metrics.jsonl"
    return metrics.exists() and '"chunk"' in metrics.read_text()


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_second_signal_ends_a_process_at_once(number, code, tmp_path):
    path = tmp_path / "run"
    with training(path, LARGE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while ROW not in (line := process.stdout.readline()):
            assert line
        time.sleep(1)
        process.send_signal(number)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=3) == code
        assert process.stderr.read() == f"{LOST}\n"
    assert not (path / "agent.safetensors").exists()


@pytest.mark.slow
@pytest.mark.fault
def test_a_signal_sent_twice_at_once_counts_as_one(tmp_path):
    """`timeout` sends each signal to the process, then to its group."""
    path = tmp_path / "run"
    with training(path, SMALL) as process:
        wait_for(lambda: trains(path))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
    assert agents.load_agent(path).num_updates > 0


@pytest.mark.slow
@pytest.mark.fault
def test_a_terminal_shows_what_a_second_ctrl_c_does(tmp_path):
    path = tmp_path / "run"
    ours, its = pty.openpty()
    with training(path, SMALL, stream=its) as process:
        wait_for(lambda: os.read(ours, 4096) and trains(path))
        process.send_signal(signal.SIGINT)
        text = b""
        while b"saved in" not in text:
            text += os.read(ours, 4096)
        assert interrupts.STOPPING.encode() in text
        assert process.wait(timeout=60) == 130
    os.close(its)
    os.close(ours)


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_whose_terminal_hangs_up_is_saved(tmp_path):
    path = tmp_path / "run"
    ours, its = pty.openpty()
    # The kernel sends the signal to the session's leader, which must own the terminal.
    before = f"exec 0<>{os.ttyname(its)} 1>&0 2>&0;"
    with training(path, SMALL, before) as process:
        wait_for(lambda: os.read(ours, 4096) and trains(path))
        os.close(ours)
        assert process.wait(timeout=60) == 129
    os.close(its)
    assert agents.load_agent(path).num_updates > 0


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_under_nohup_ignores_a_hangup(tmp_path):
    path = tmp_path / "run"
    with training(path, SMALL, "trap '' HUP;") as process:
        wait_for(lambda: trains(path))
        process.send_signal(signal.SIGHUP)
        metrics = path / "metrics.jsonl"
        size = metrics.stat().st_size
        wait_for(lambda: process.poll() or metrics.stat().st_size > size + 20_000)
        assert process.poll() is None


@pytest.mark.fault
def test_a_second_signal_raises_and_the_handlers_are_restored():
    before = [signal.getsignal(number) for number in (2, 15, 1)]
    with (  # noqa: PT012
        pytest.raises(interrupts.EndedAtOnce, match="all is lost") as ended,
        interrupts.interruptible("all is lost") as signals,
    ):
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)  # sent by the shell and by the terminal
        assert signals == [signal.SIGHUP, signal.SIGHUP]
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143
    assert [signal.getsignal(number) for number in (2, 15, 1)] == before


IMPORTED = """
import os, signal, sys, time
for _ in range({times}):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
time.sleep(60)
"""


def importing(module, times, command, tmp_path, stream: int = subprocess.PIPE):
    """Start a command in which Ctrl-C is pressed while it imports `module`."""
    stub = tmp_path / "stubs" / module
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text(IMPORTED.format(times=times))
    paths = [str(stub.parent), str(Path(str(train.__file__)).parents[1])]
    return subprocess.Popen(
        [sys.executable, "-m", *command.split()],
        stdout=subprocess.PIPE,
        stderr=stream,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )


@pytest.mark.fault
@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("tyro", "jax_ttt.train"),
        pytest.param("tyro", "jax_ttt train", marks=pytest.mark.slow),
        pytest.param("jax", "jax_ttt.evaluate random", marks=pytest.mark.slow),
        ("jax", "jax_ttt arena"),
    ],
)
def test_ctrl_c_during_imports_is_one_line(module, command, tmp_path):
    process = importing(module, 1, command, tmp_path)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")


@pytest.mark.fault
def test_ctrl_c_while_train_imports_jax_leaves_at_once(tmp_path):
    ours, its = pty.openpty()
    with importing("jax", 1, "jax_ttt.train", tmp_path, stream=its) as process:
        assert process.wait(timeout=30) == 130
    lines = os.read(ours, 4096).decode().split("\r\n")
    told = [line for line in lines if line.startswith("error")]
    assert told == [f"error: {train.BEFORE_TRAINING}"]
    assert not (tmp_path / "runs").exists()
    os.close(its)
    os.close(ours)


def test_the_first_signal_leaves_while_there_is_nothing_to_save(monkeypatch):
    shown, left = [], []
    monkeypatch.setattr(interrupts, "_show", shown.append)
    monkeypatch.setattr(interrupts, "_leave", lambda *end: left.append(end))
    with interrupts.interruptible("all is lost", True, "nothing yet") as signals:
        signals.nothing_to_save = True
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.raise_signal(number)
            time.sleep(0.2)
    assert left == [(signal.SIGTERM, "nothing yet"), (signal.SIGHUP, "nothing yet")]
    assert shown == []


def test_what_is_announced_is_shown_at_once_and_raised(monkeypatch):
    """The thread shows it while the main thread is in a call that does not return."""
    shown = []
    monkeypatch.setattr(interrupts, "_show", shown.append)
    with (  # noqa: PT012
        pytest.raises(KeyboardInterrupt),
        interrupts.announced("stopping", watched=True),
    ):
        signal.raise_signal(signal.SIGINT)
        time.sleep(5)
    for _ in range(100):
        if shown:
            break
        time.sleep(0.02)
    assert shown == ["stopping"]


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [True, False])
def test_the_first_ctrl_c_is_shown_and_the_second_leaves_or_raises(leaves, monkeypatch):
    shown, left = [], []
    monkeypatch.setattr(interrupts, "_show", shown.append)
    monkeypatch.setattr(interrupts, "_leave", lambda *end: left.append(end))
    raised = contextlib.nullcontext() if leaves else pytest.raises(KeyboardInterrupt)
    with (
        raised,
        interrupts.interruptible("all is lost", True, "stopping", leaves) as signals,
    ):
        for number in (1, 2):
            signal.raise_signal(signal.SIGINT)
            time.sleep(interrupts.SAME_REQUEST + 0.2)
            assert len(signals) == number
    assert shown == ["stopping"]
    assert left == ([(signal.SIGINT, "all is lost")] if leaves else [])
