"""Runs and sweeps that are killed at random moments, and before each of their writes.

Each continues as if nothing had happened: the same bytes, the same files.
"""

import os
import random
import re
import shutil
import signal
import time

import as_users
import pytest
import same_runs

import jax_ttt

pytestmark = [pytest.mark.slow, pytest.mark.fault]

SMALL = "train --num-envs 8 --hidden-size 8 --eval-games 0 --precision float32 --quiet"
LONG = f"{SMALL} --num-updates 1500 --eval-every 50 --checkpoint-every 0.02"
SHORT = f"{SMALL} --num-updates 4 --eval-every 2 --checkpoint-every 0.000001"
SWEEP = "sweep --preset table --num-envs 8 --first-seed 7 --json"
FEW = "--num-seeds 2 --num-updates 8"
BLOCKS = "--num-seeds 12 --num-updates 20 --at-once 4"

# Python runs a module of this name at its start. Before each event that changes the
# current folder it copies this to the folder `COPIES`: a kill would leave the files as
# they are then. Events are a file or folder that is opened to write, made, renamed or
# removed, and any fsync, before which the written bytes are there.
COPYING = """
import os, shutil, sys

folder, copies, number = os.getcwd(), os.environ["COPIES"], 0
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link")


def copy():
    global number
    number += 1
    shutil.copytree(folder, f"{copies}/{number}")


def hook(event, args):
    if event in CHANGES or event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR):
        name = os.path.abspath(args[0]) if isinstance(args[0], str) else ""
        if name.startswith(folder + os.sep):
            copy()


def fsync(handle, real=os.fsync):
    copy()
    real(handle)


os.fsync = fsync
sys.addaudithook(hook)
"""


def names(run):
    """Return the names of a run's files, without the numbers of checkpoints.

    The clock decides at which updates the older ones are saved.
    """
    return sorted(re.sub(r"(checkpoint)-\d+", r"\1", x) for x in as_users.contents(run))


def assert_same_run(run, whole):
    """Compare all that two runs left, but times and their older checkpoints."""
    same_runs.assert_same_run(run, whole)
    assert names(run) == names(whole)


def assert_same_sweep(folder, whole):
    path = sweep_in(folder)
    assert path is not None
    assert as_users.timeless_lines(path) == as_users.timeless_lines(whole)


def next_run(start, run):
    """Return the command that continues a run, or begins one without a checkpoint."""
    if not any(run.glob("checkpoint-*")):
        return f"{start} --run-dir {run}"
    schedule = start.partition("--checkpoint-every")[2]
    return f"train --quiet --resume {run} --checkpoint-every{schedule}"


def sweep_in(folder):
    """Return the file of the sweep in a folder, None if there is none."""
    return next(iter(folder.glob("runs/*.jsonl")), None)


def next_sweep(flags, folder):
    """Return the command that continues a sweep, or begins one without a whole line."""
    path = sweep_in(folder)
    if path is not None and b"\n" in path.read_bytes():
        at_once = re.search(r"--at-once \d+|$", flags)
        return f"sweep --json --resume {path} {at_once and at_once[0]}".strip()
    return f"{SWEEP} {flags}"


def finish(line, run=as_users.run_here, **options):
    """Run a command to its end; return its stderr."""
    done = run(line, **options)
    assert done.code == 0, done
    return done.err


def kill_later(process, moment, file):
    """Kill a process so many seconds after a file grows; return the exit code."""

    def size():
        path = file()
        return path.stat().st_size if path and path.exists() else 0

    before = size()
    while size() == before and process.poll() is None:
        time.sleep(0.005)
    time.sleep(moment)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert "warning" not in err.lower()
    assert process.returncode in (-signal.SIGKILL, 0)
    return process.returncode


def test_a_run_that_is_killed_again_and_again_ends_the_same(tmp_path):
    """At two random moments."""
    expected, run = tmp_path / "whole", tmp_path / "run"
    assert finish(f"{LONG} --run-dir {expected}") == ""
    draw, num_kills = random.Random(0), 0
    while num_kills < 2:
        process = as_users.start(next_run(LONG, run), cwd=tmp_path)
        code = kill_later(process, draw.uniform(0, 0.1), lambda: run / "metrics.jsonl")
        num_kills += code != 0
        if code == 0:  # it ended before the moment
            assert_same_run(run, expected)
            shutil.rmtree(run)
    finish(next_run(LONG, run))
    assert_same_run(run, expected)


def test_a_sweep_that_is_killed_again_and_again_ends_the_same(tmp_path, monkeypatch):
    """At two random moments; a block that is not finished is trained again."""
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    folder.mkdir()
    monkeypatch.chdir(whole)
    finish(f"{SWEEP} {BLOCKS}")
    monkeypatch.chdir(folder)
    draw, num_kills = random.Random(0), 0
    while num_kills < 2:
        process = as_users.start(next_sweep(BLOCKS, folder), cwd=folder)
        code = kill_later(process, draw.uniform(0, 0.05), lambda: sweep_in(folder))
        num_kills += code != 0
        if code == 0:
            assert_same_sweep(folder, sweep_in(whole))
            shutil.rmtree(folder / "runs")
    finish(next_sweep(BLOCKS, folder))
    assert_same_sweep(folder, sweep_in(whole))


@pytest.fixture
def copied(tmp_path):
    """Return a function that runs a command in a folder.

    Its results are the folder and the copies of it that kills would have left, each
    once.
    """
    (tmp_path / "sitecustomize.py").write_text(COPYING)
    path = os.pathsep.join([str(tmp_path), str(as_users.ROOT)])
    copies, folder = tmp_path / "copies", tmp_path / "whole"
    folder.mkdir()

    def run(line):
        finish(line, as_users.run, cwd=folder, PYTHONPATH=path, COPIES=copies)
        different = {
            tuple(as_users.contents(copy).items()): copy
            for copy in sorted(copies.iterdir(), key=lambda copy: int(copy.name))
        }
        return folder, [*different.values()]

    return run


def add_half_a_line(file):
    """Leave what a process leaves that is killed while it writes a second line."""
    if file is not None and file.exists() and file.stat().st_size:
        with file.open("ab") as lines:
            lines.write(b'{"event": "ev')


def test_a_run_that_is_killed_before_a_write_ends_the_same(copied):
    folder, copies = copied(f"{SHORT} --run-dir run")
    assert len(copies) > 20
    for run in (copy / "run" for copy in copies):
        if (run / "agent.safetensors").exists():
            jax_ttt.load(run)
        else:
            add_half_a_line(run / "metrics.jsonl")
        finish(next_run(SHORT, run))
        assert_same_run(run, folder / "run")


def test_a_sweep_that_is_killed_before_a_write_ends_the_same(copied, monkeypatch):
    folder, copies = copied(f"{SWEEP} {FEW}")
    assert len(copies) > 4
    for copy in copies:
        monkeypatch.chdir(copy)
        add_half_a_line(sweep_in(copy))
        line = next_sweep(FEW, copy)
        if "resume" not in line:
            shutil.rmtree(copy / "runs", ignore_errors=True)
        finish(line)
        assert_same_sweep(copy, sweep_in(folder))
