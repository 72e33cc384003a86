"""Signals to a process that trains: what it saves and prints, and when it ends."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import commands
import pytest

from jax_ttt.players import saved_agents
from jax_ttt.runtime import interrupts

train = commands.module_of("train")

SMALL = "--num-envs 8 --hidden-size 8 --eval-games 8 --num-updates 1000000000"
# Compiling takes seconds.
LARGE = "--num-envs 16384 --hidden-size 512 --eval-games 8 --no-compile-cache"


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
def test_a_second_signal_ends_a_process_without_saving(number, code, tmp_path):
    path = tmp_path / "run"
    with training(path, LARGE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while "writing to" not in (line := process.stdout.readline()):
            assert line
        process.send_signal(number)
        time.sleep(interrupts.SAME_REQUEST + 0.4)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=60) == code
        assert process.stderr.read() == f"error: {interrupts.SecondSignal(number)}\n"
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
    assert saved_agents.load_agent(path).num_updates > 0


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
    assert saved_agents.load_agent(path).num_updates > 0


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


NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def at(monkeypatch):
    """Return a function that sets the time of the handler's clock."""
    clock = types.SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(interrupts, "time", clock)
    return lambda now: setattr(clock, "now", now)


@pytest.mark.fault
@pytest.mark.parametrize("number", NUMBERS)
def test_the_first_signal_is_a_request_to_stop(number):
    before = [signal.getsignal(number) for number in NUMBERS]
    with interrupts.stop_request() as request:
        assert not request
        signal.raise_signal(number)
        assert request
        assert request.number == number
    assert [signal.getsignal(number) for number in NUMBERS] == before


@pytest.mark.fault
@pytest.mark.parametrize("second", NUMBERS[:2])
def test_a_second_signal_raises_and_the_first_is_remembered(second, at):
    before = [signal.getsignal(number) for number in NUMBERS]
    with (  # noqa: PT012
        pytest.raises(interrupts.SecondSignal) as ended,
        interrupts.stop_request() as request,
    ):
        signal.raise_signal(signal.SIGHUP)
        at(100 + interrupts.SAME_REQUEST / 2)
        signal.raise_signal(second)  # of the same request, by a wrapper
        at(200)
        signal.raise_signal(signal.SIGHUP)  # of the shell and of the terminal
        assert request.number == signal.SIGHUP
        signal.raise_signal(second)
    assert ended.value.number == second
    assert [signal.getsignal(number) for number in NUMBERS] == before


IMPORTED = """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep({seconds})
"""


def importing_jax(command, seconds, tmp_path):
    """Run a command in which Ctrl-C is pressed while it imports JAX."""
    stub = tmp_path / "stubs" / "jax"
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text(IMPORTED.format(seconds=seconds))
    paths = [str(stub.parent), str(Path(str(train.__file__)).parents[1])]
    return subprocess.run(
        [sys.executable, "-m", *command.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )


@pytest.mark.fault
@pytest.mark.parametrize("command", ["jax_ttt.evaluate random", "jax_ttt arena"])
def test_ctrl_c_while_jax_is_imported_is_one_line(command, tmp_path):
    done = importing_jax(command, 60, tmp_path)
    told = "error: interrupted\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", told)
