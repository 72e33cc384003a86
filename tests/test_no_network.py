"""The commands reach no network: what Python asks for, and what the system sees."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

import jax_ttt
from jax_ttt import evaluate
from jax_ttt.train import main as train

ROOT = Path(jax_ttt.__file__).parents[1]
ASKS = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname")
HOOK = f"""
import os, runpy, sys
def heard(event, args):
    if event in {ASKS}:
        os.write(2, f"dialled {{event}} {{args[-1]}}\\n".encode())
sys.addaudithook(heard)
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
HEARD: list[str] = []
LISTENING: list[bool] = []


def heard(event, args):
    if LISTENING and event in ASKS:
        HEARD.append(f"{event} {args[-1]}")


@pytest.fixture
def dialled():
    """Return what is dialled during a test. A hook can't be removed, so it has one."""
    if not HEARD and "added" not in vars(heard):
        sys.addaudithook(heard)
        vars(heard)["added"] = True
    LISTENING.append(True)
    yield HEARD
    LISTENING.clear()
    HEARD.clear()


def test_the_hook_hears_a_connection(dialled):
    with socket.socket() as client, pytest.raises(OSError, match=r"."):
        client.connect(("127.0.0.1", 1))
    assert dialled == ["socket.connect ('127.0.0.1', 1)"]


@pytest.mark.slow
@pytest.mark.fault
def test_training_and_evaluating_dial_nowhere(dialled, tmp_path):
    run = str(tmp_path / "run")
    assert train([*tiny.flags(), "--quiet", "--run-dir", run]) == 0
    assert evaluate.main([run, "--json"]) == 0
    assert dialled == []


def commands(folder):
    """Return a training and its evaluation, as modules with flags."""
    run = str(folder / "run")
    return (
        ["jax_ttt.train", *tiny.flags(), "--quiet", "--run-dir", run],
        ["jax_ttt.evaluate", run, "--json"],
    )


def run_command(before, module, flags):
    """Run a command in a process; return its stderr."""
    done = subprocess.run(
        [*before, module, *flags],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
@pytest.mark.fault
def test_whole_processes_dial_nowhere(tmp_path):
    for module, *flags in commands(tmp_path):
        assert run_command([sys.executable, "-c", HOOK], module, flags) == ""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.fault
def test_the_system_sees_no_connection(tmp_path):
    """Libraries that are not written in Python are seen too."""
    for number, (module, *flags) in enumerate(commands(tmp_path)):
        log = tmp_path / f"{number}.log"
        strace = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,bind", "-o", log]
        python = [*map(str, strace), sys.executable, "-m"]
        run_command(python, module, flags)
        lines = log.read_text("utf-8", errors="replace").splitlines()
        calls = [
            line for line in lines if re.search(r"\b(connect|sendto|bind)\(", line)
        ]
        assert not [line for line in calls if "AF_INET" in line]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.fault
def test_a_run_writes_no_file_elsewhere_and_syncs_before_it_renames(tmp_path):
    """The system sees fsync of the agent, the rename, then fsync of the folder."""
    module, *flags = commands(tmp_path)[0]
    log = tmp_path / "log"
    calls = "trace=openat,fsync,rename,renameat,renameat2"
    strace = ["strace", "-f", "-qq", "-y", "-e", calls, "-o", str(log)]
    run_command([*strace, sys.executable, "-m"], module, flags)
    text = log.read_text("utf-8", errors="replace")
    wanted = (
        r"openat\(.*/run/(\.jax_ttt-\S+\.tmp)\", "
        r"O_WRONLY\|O_CREAT\|O_EXCL\|O_NOFOLLOW\|O_CLOEXEC, 0644\)"
    )
    temporary = {found[1] for found in re.finditer(wanted, text)}
    saved = re.search(
        r"rename\w*\(.*/(\.jax_ttt-\S+\.tmp)\".*agent\.safetensors\"", text
    )
    assert saved
    assert saved[1] in temporary
    before, after = text[: saved.start()], text[saved.end() :]
    assert re.search(rf"fsync\(\d+<.*{re.escape(saved[1])}>\)", before)
    assert re.search(r"fsync\(\d+<[^>]*/run>\)", after)
