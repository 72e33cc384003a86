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
RUN = f"{SMALL} --run-dir runs/one --num-updates"
LONG = f"{RUN} 1500 --eval-every 50 --checkpoint-every 0.02"
SHORT = f"{RUN} 4 --eval-every 2 --checkpoint-every 0.000001"
SWEEP = "sweep --preset table --num-envs 8 --first-seed 7 --json --num-seeds"
FEW = f"{SWEEP} 2 --num-updates 8"
BLOCKS = f"{SWEEP} 12 --num-updates 20 --at-once 4"

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


def lines_in(folder):
    """Return the file of a run's rows or of a sweep's agents; None if there is none."""
    return next(iter(folder.glob("runs/**/*.jsonl")), None)


def names(run):
    """Return the names of a run's files, without the numbers of checkpoints.

    The clock decides at which updates the older ones are saved.
    """
    return sorted(re.sub(r"(checkpoint)-\d+", r"\1", x) for x in as_users.contents(run))


def assert_same(folder, whole):
    """Compare all that a run or a sweep left, but times and older checkpoints."""
    run, whole_run = folder / "runs" / "one", whole / "runs" / "one"
    if whole_run.exists():
        same_runs.assert_same_run(run, whole_run)
        assert names(run) == names(whole_run)
    else:
        files = [lines_in(folder), lines_in(whole)]
        mine, others = map(as_users.timeless_lines, files)
        assert mine == others


def next_line(line, folder):
    """Return the command that continues a run or a sweep, or begins it.

    A run without a checkpoint and a sweep without a whole line begin again.
    """
    command, file = line.split()[0], lines_in(folder)
    if command == "train" and any(folder.glob("runs/one/checkpoint-*")):
        schedule = line.partition("--checkpoint-every")[2]
        return f"train --quiet --resume runs/one --checkpoint-every{schedule}"
    if command == "sweep" and file is not None and b"\n" in file.read_bytes():
        at_once = line.partition("--at-once")
        return f"sweep --json --resume {file} {at_once[1]}{at_once[2]}"
    return line


def finish(line, run=as_users.run_here, **options):
    """Run a command to its end."""
    done = run(line, **options)
    assert done.code == 0, done


def kill_later(process, moment, file):
    """Kill a process so many seconds after a file grows; return the exit code."""

    def size():
        path = file()
        return path.stat().st_size if path else 0

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


@pytest.mark.parametrize("line", [LONG, BLOCKS], ids=["run", "sweep"])
def test_what_is_killed_again_and_again_ends_the_same(line, tmp_path, monkeypatch):
    """At two random moments; a block that is not finished is trained again."""
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    folder.mkdir()
    monkeypatch.chdir(whole)
    finish(line)
    monkeypatch.chdir(folder)
    draw, num_kills = random.Random(0), 0
    while num_kills < 2:
        process = as_users.start(next_line(line, folder), cwd=folder)
        code = kill_later(process, draw.uniform(0, 0.1), lambda: lines_in(folder))
        num_kills += code != 0
        if code == 0:  # it ended before the moment
            assert_same(folder, whole)
            shutil.rmtree(folder / "runs")
    finish(next_line(line, folder))
    assert_same(folder, whole)


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
    if file is not None and file.stat().st_size:
        with file.open("ab") as lines:
            lines.write(b'{"event": "ev')


@pytest.mark.parametrize(
    ("line", "more_than"), [(SHORT, 20), (FEW, 4)], ids=["run", "sweep"]
)
def test_what_is_killed_before_a_write_ends_the_same(
    line, more_than, copied, monkeypatch
):
    folder, copies = copied(line)
    assert len(copies) > more_than
    for copy in copies:
        monkeypatch.chdir(copy)
        if (copy / "runs" / "one" / "agent.safetensors").exists():
            jax_ttt.load(copy / "runs" / "one")
        else:
            add_half_a_line(lines_in(copy))
        again = next_line(line, copy)
        if again == FEW:
            shutil.rmtree(copy / "runs", ignore_errors=True)
        finish(again)
        assert_same(copy, folder)
