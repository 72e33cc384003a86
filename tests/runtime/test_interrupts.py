"""Signals to a process that trains: what it saves and prints, and when it ends."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import as_users
import pytest

from jax_ttt.players import saved_agents
from jax_ttt.runtime import early_interrupts, interrupts

ENDLESS = "--num-envs 8 --hidden-size 8 --eval-games 8 --num-updates 1000000000"
SLOW_TO_COMPILE = "--num-envs 16384 --hidden-size 512 --eval-games 8 --no-compile-cache"
NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@contextlib.contextmanager
def training(path, flags, shell_prefix=""):
    """Train in a process of its own, and end it after the test."""
    command = f'{shell_prefix} exec "$0" -m jax_ttt.train --run-dir "$1" {flags}'
    process = subprocess.Popen(
        ["sh", "-c", command, sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=as_users.environment(JAX_DISABLE_MOST_OPTIMIZATIONS=1),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise TimeoutError


def trains(path):
    """Return whether the first chunk of training has ended."""
    metrics = path / "metrics.jsonl"
    return metrics.exists() and '"chunk"' in metrics.read_text()


@pytest.mark.slow
@pytest.mark.fault
def test_a_second_ctrl_c_ends_a_process_without_saving(tmp_path):
    path = tmp_path / "run"
    with training(path, SLOW_TO_COMPILE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while "writing to" not in (line := process.stdout.readline()):
            assert line
        process.send_signal(signal.SIGINT)
        time.sleep(interrupts.SAME_REQUEST + 0.4)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        error = interrupts.SecondSignal(signal.SIGINT)
        assert process.stderr.read() == f"error: {error}\n"
    assert not (path / "agent.safetensors").exists()


@pytest.mark.slow
@pytest.mark.fault
def test_a_signal_sent_twice_at_once_counts_as_one(tmp_path):
    """`timeout` sends each signal to the process, then to its group."""
    path = tmp_path / "run"
    with training(path, ENDLESS) as process:
        wait_for(lambda: trains(path))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
    assert saved_agents.load_agent(path).num_updates > 0


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_whose_terminal_hangs_up_is_saved(tmp_path):
    path = tmp_path / "run"
    our_end, its_end = pty.openpty()
    # The kernel sends the signal to the session's leader, which must own the terminal.
    use_terminal = f"exec 0<>{os.ttyname(its_end)} 1>&0 2>&0;"
    with training(path, ENDLESS, use_terminal) as process:
        wait_for(lambda: os.read(our_end, 4096) and trains(path))
        os.close(our_end)
        assert process.wait(timeout=60) == 129
    os.close(its_end)
    assert saved_agents.load_agent(path).num_updates > 0


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_under_nohup_ignores_a_hangup(tmp_path):
    path = tmp_path / "run"
    with training(path, ENDLESS, "trap '' HUP;") as process:
        wait_for(lambda: trains(path))
        process.send_signal(signal.SIGHUP)
        metrics = path / "metrics.jsonl"
        size = metrics.stat().st_size
        wait_for(lambda: process.poll() or metrics.stat().st_size > size + 20_000)
        assert process.poll() is None


@pytest.fixture
def set_time(monkeypatch):
    """Return a function that sets the time of the handler's clock."""
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(interrupts, "time", clock)
    return lambda now: setattr(clock, "now", now)


@pytest.mark.fault
@pytest.mark.parametrize("number", NUMBERS)
def test_the_first_signal_is_a_request_to_stop(number):
    handlers = [signal.getsignal(number) for number in NUMBERS]
    with interrupts.stop_request() as request:
        assert not request
        signal.raise_signal(number)
        assert request
        assert request.number == number
    assert [signal.getsignal(number) for number in NUMBERS] == handlers


@pytest.mark.fault
@pytest.mark.parametrize("second", NUMBERS[:2])
def test_a_second_signal_raises_and_the_first_is_remembered(second, set_time):
    handlers = [signal.getsignal(number) for number in NUMBERS]
    with (  # noqa: PT012
        pytest.raises(interrupts.SecondSignal) as ended,
        interrupts.stop_request() as request,
    ):
        signal.raise_signal(signal.SIGHUP)
        set_time(100 + interrupts.SAME_REQUEST / 2)
        signal.raise_signal(second)  # of the same request, by a wrapper
        set_time(200)
        signal.raise_signal(signal.SIGHUP)  # of the shell and of the terminal
        assert request.number == signal.SIGHUP
        signal.raise_signal(second)
    assert ended.value.number == second
    assert [signal.getsignal(number) for number in NUMBERS] == handlers


INTERRUPTED_IMPORT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""
"""Python runs this at its start: Ctrl-C comes when the module of this name is found."""


@pytest.mark.fault
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("jax_ttt.train", "dataclasses"),
        ("jax_ttt train", "tyro"),
        ("jax_ttt.evaluate random", "jax_ttt.config.settings"),
        ("jax_ttt arena", "jax_ttt.players.program"),
        ("jax_ttt.evaluate random", "jax"),
        ("jax_ttt arena", "jax"),
    ],
)
def test_ctrl_c_while_modules_are_imported_is_one_line(command, name, tmp_path):
    code = INTERRUPTED_IMPORT.format(name=name)
    (tmp_path / "sitecustomize.py").write_text(code)
    paths = os.pathsep.join([str(tmp_path), str(as_users.ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        env=as_users.environment(PYTHONPATH=paths),
    )
    message = "error: interrupted\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", message)


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("command", ["jax_ttt.train", "jax_ttt train", "jax_ttt.web"])
def test_ctrl_c_at_any_time_shows_no_traceback_of_ours(command, tmp_path):
    """After the first delay Python, or the package itself, may still be starting."""
    package = Path(interrupts.__file__).parents[1]
    first = ("__init__.py", "runtime/__init__.py", "runtime/early_interrupts.py")
    for delay in (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2):
        with subprocess.Popen(
            [sys.executable, "-m", *command.split()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=as_users.environment(),
        ) as process:
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        files = {Path(name) for name in re.findall('File "(.+?)"', err)}
        ours = {file for file in files if file.is_relative_to(package)}
        assert ours <= {package / name for name in first}
    assert process.returncode == 130  # after the last delay


@pytest.mark.parametrize(
    ("argv", "orig_argv", "is_held"),
    [
        (["-m", "--seed", "1"], ["python", "-m", "jax_ttt.train", "--seed", "1"], True),
        (["-m", "train"], ["python", "-X", "dev", "-m", "jax_ttt", "train"], True),
        (["/usr/bin/jax-ttt", "train"], ["python", "/usr/bin/jax-ttt", "train"], True),
        (["-m"], ["python", "-m", "another.module"], False),
        (["mine.py"], ["python", "mine.py"], False),
        (["/home/jax-ttt/mine.py"], ["python", "/home/jax-ttt/mine.py"], False),
        (["-c"], ["python", "-c", "import jax_ttt"], False),
        ([""], ["python"], False),
    ],
)
def test_only_a_command_holds_ctrl_c(argv, orig_argv, is_held, monkeypatch):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig_argv)
    before = signal.getsignal(signal.SIGINT)
    try:
        for handler in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(signal.SIGINT, handler)
            early_interrupts.hold_ctrl_c("jax_ttt", script="jax-ttt")
            is_default = handler is signal.default_int_handler
            changed = signal.getsignal(signal.SIGINT) is not handler
            assert changed == (is_held and is_default)
        if is_held:
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                early_interrupts.raise_held()
        early_interrupts.raise_held()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
