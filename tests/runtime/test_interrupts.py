"""Signals to a process that trains: what it saves and prints, and when it ends."""

import importlib.util
import os
import pty
import select
import signal
import subprocess
import sys
import time

import as_users
import pytest
from marks import mark_slow

from jax_ttt.players import saved_agents
from jax_ttt.runtime import interrupts

ENDLESS = "--num-envs 8 --hidden-size 8 --eval-games 8 --num-updates 1000000000"
NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_whose_terminal_hangs_up_is_saved(tmp_path):
    path = tmp_path / "run"
    our_end, its_end = pty.openpty()
    # The kernel sends the signal to the session's leader, which must own the terminal.
    command = f"exec 0<>{os.ttyname(its_end)} 1>&0 2>&0; "
    command += f'exec "$0" -m jax_ttt.train --run-dir "$1" {ENDLESS}'
    process = subprocess.Popen(
        ["sh", "-c", command, sys.executable, str(path)],
        start_new_session=True,
        env=as_users.environment(JAX_DISABLE_MOST_OPTIMIZATIONS=1),
    )
    metrics, end = path / "metrics.jsonl", time.monotonic() + 120
    try:
        while not metrics.exists() or '"chunk"' not in metrics.read_text():
            assert process.poll() is None
            assert time.monotonic() < end
            if select.select([our_end], [], [], 0.1)[0]:
                os.read(our_end, 4096)
        os.close(our_end)
        assert process.wait(timeout=60) == 129
    finally:
        process.kill()
        process.wait()
        os.close(its_end)
    assert saved_agents.load_agent(path).num_updates > 0


@pytest.mark.fault
@pytest.mark.parametrize("exits", [False, True])
def test_a_hangup_that_is_ignored_stays_ignored(exits):
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupts.stop_request(exits) as request:
            signal.raise_signal(signal.SIGHUP)
            assert not request
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


SIGNALS = """
import signal, sys, time
from jax_ttt.runtime import interrupts

with interrupts.stop_request() as request:
    signal.raise_signal(signal.SIGHUP)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.raise_signal(number)
    print(int(request.number))
    time.sleep(1.2 * interrupts.SAME_REQUEST)
    signal.raise_signal(int(sys.argv[1]))
"""


@pytest.mark.fault
@pytest.mark.parametrize("second", mark_slow(NUMBERS, *NUMBERS[1:]))
def test_signals_at_once_are_one_and_a_later_one_ends_the_process(second):
    """Wrappers, the terminal and its shell send several."""
    message = "error: interrupted twice: ended at once\n"
    done = as_users.run_python("-c", SIGNALS, int(second))
    assert done == (-second, "1\n", message)


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("number", NUMBERS[:2])
def test_a_second_signal_ends_a_process_that_compiles_at_once(number, tmp_path):
    """The program of a chunk of so many layers takes some seconds to compile."""
    flags = "--preset connect-5x4 --hidden-layers 16 --no-compile-cache --run-dir run"
    with subprocess.Popen(
        [sys.executable, "-m", "jax_ttt.train", *flags.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=as_users.environment(
            JAX_LOG_COMPILES=1, JAX_DISABLE_MOST_OPTIMIZATIONS=None
        ),
    ) as process:
        assert process.stdout is not None
        try:
            while "Compiling jit(chunk)" not in process.stdout.readline():
                assert process.poll() is None
            time.sleep(0.3)
            process.send_signal(number)
            time.sleep(1.2 * interrupts.SAME_REQUEST)
            assert process.poll() is None
            process.send_signal(number)
            out, _ = process.communicate(timeout=2)
        finally:
            process.kill()
    # JAX may log the end of a compilation after it.
    assert "error: interrupted twice: ended at once\n" in out
    assert "Finished XLA compilation of jit(chunk)" not in out
    assert process.returncode == -number, "by the signal: a shell shows 128 + number"


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
        pytest.param("jax_ttt.web", "uvicorn", marks=pytest.mark.slow),
        pytest.param("jax_ttt arena", "jax", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_while_modules_are_imported_is_one_line(command, name, tmp_path):
    code = INTERRUPTED_IMPORT.format(name=name)
    (tmp_path / "sitecustomize.py").write_text(code)
    paths = os.pathsep.join([str(tmp_path), str(as_users.ROOT)])
    done = as_users.run_python("-m", *command.split(), cwd=tmp_path, PYTHONPATH=paths)
    assert done == (130, "", "error: interrupted\n")


@pytest.mark.parametrize(
    ("argv", "orig_argv", "changes"),
    [
        (["-m", "--seed", "1"], ["python", "-m", "jax_ttt.train", "--seed", "1"], True),
        (["-m", "train"], ["python", "-X", "dev", "-m", "jax_ttt", "train"], True),
        (["/usr/bin/jax-ttt", "train"], ["python", "/usr/bin/jax-ttt", "train"], True),
        (["-m"], ["python", "-m", "another.module"], False),
        (["mine.py"], ["python", "mine.py"], False),
        (["/home/jax-ttt/mine.py"], ["python", "/home/jax-ttt/mine.py"], False),
        (["-c"], ["python", "-c", "import jax_ttt"], False),
        ([""], ["python"], False),
        ([], [], False),
    ],
)
def test_only_a_command_changes_what_ctrl_c_does(argv, orig_argv, changes, monkeypatch):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig_argv)
    spec = importlib.util.find_spec("jax_ttt")
    assert spec is not None
    assert spec.loader is not None
    before = signal.getsignal(signal.SIGINT)
    try:
        for handler in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(signal.SIGINT, handler)
            package = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, "jax_ttt", package)
            spec.loader.exec_module(package)
            is_default = handler is signal.default_int_handler
            is_changed = signal.getsignal(signal.SIGINT) is not handler
            assert is_changed == (changes and is_default)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.fault
def test_a_postponed_interrupt_comes_at_the_end_of_what_it_may_not_break():
    reached = []

    def work():
        with interrupts.postponed():
            signal.raise_signal(signal.SIGINT)
            reached.append("end")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with interrupts.postponed():
        pass
