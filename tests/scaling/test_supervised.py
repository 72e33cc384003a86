"""What a parent says of the end of its child."""

import signal
import subprocess
import sys

import pytest

from jax_ttt.scaling import supervised

PROGRAM = """
import os, signal, sys, time
from jax_ttt.scaling import supervised

def command(argv):
    os.write(1, b"from the runtime")
    os.write(2, b"from the runtime")
    print("told")
    {end}

supervised.run(command)
"""
LOST = f"error: {supervised.LOST}\n"
ABSENT = f"error: {supervised.ABSENT}\n"


def ended(end, *flags):
    """Return the exit code, stdout and stderr of a command that ends so."""
    program = [sys.executable, "-c", PROGRAM.format(end=end), *flags]
    done = subprocess.run(program, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("return 0", (0, "told\n", "")),
        ("return 3", (3, "told\n", "")),
        ("sys.exit(2)", (2, "told\n", "")),
        ("os.abort()", (2, "told\n", ABSENT)),
        ("supervised.note_joined(); os.abort()", (1, "told\n", LOST)),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            (137, "told\n", "error: the process was ended by SIGKILL\n"),
        ),
    ],
)
def test_each_end_has_an_exit_code_and_what_the_runtime_says_is_dropped(end, expected):
    assert ended(end, "--distributed") == expected


def test_without_the_flag_there_is_no_child():
    code, out, err = ended("return os.getppid() != int(sys.argv[1])", "0")
    assert (code, err) == (1, "from the runtime")
    assert "told" in out


def test_a_killed_parent_takes_its_child_along():
    end = "print(os.getpid(), flush=True); time.sleep(10); print('left')"
    program = [sys.executable, "-c", PROGRAM.format(end=end), "--distributed"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as parent:
        out = parent.stdout
        assert out is not None
        assert out.readline() == "told\n"
        child = int(out.readline())
        assert child != parent.pid
        parent.kill()
        # The pipe closes once the child has ended too.
        assert out.read() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_parent_reaches_the_child(number):
    """Except Ctrl-C, which a terminal sends to both."""
    end = (
        f"signal.signal({number:d}, lambda *_: sys.exit(7)); "
        "time.sleep(0.3); print('ready'); time.sleep(10)"
    )
    program = [sys.executable, "-c", PROGRAM.format(end=end), "--distributed"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as parent:
        out = parent.stdout
        assert out is not None
        assert [out.readline(), out.readline()] == ["told\n", "ready\n"]
        parent.send_signal(signal.SIGINT)
        parent.send_signal(number)
        assert parent.wait(timeout=60) == 7


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_error(closed):
    program = [sys.executable, "-c", PROGRAM.format(end="return 3"), "--distributed"]
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *program]
    done = subprocess.run(shell, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == ("" if closed.startswith(">") else "told\n")
