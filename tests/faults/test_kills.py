"""Runs and sweeps that are killed at random moments, and before each of their writes.

Each continues as if nothing had happened: the same bytes, the same files.
"""

import itertools
import json
import os
import random
import re
import shutil
import signal
import time
from pathlib import Path

import as_users
import numpy as np
import pytest
import safetensors.numpy

import jax_ttt

pytestmark = [pytest.mark.slow, pytest.mark.fault]

SMALL = "--num-envs 8 --hidden-size 8 --eval-games 0 --precision float32 --quiet"
LONG = f"train {SMALL} --num-updates 6000 --eval-every 75"
OFTEN = "--checkpoint-every 0.02"
SHORT = f"train {SMALL} --num-updates 4 --eval-every 2"
ALWAYS = "--checkpoint-every 0.000001"
TABLES = "sweep --preset table --num-envs 8 --first-seed 7 --json"
MANY, FEW = "--num-seeds 60 --num-updates 20", "--num-seeds 3 --num-updates 8"
ONE_THREAD = {"NPROC": "1"}

# Python runs a module of this name at its start. It kills the process before the event
# `KILL_AT`, counted from 1: a file or folder below `KILL_IN` that is opened to write,
# made, renamed or removed, or any fsync, before which what was written is there.
KILLS = """
import os, signal, sys

left, folder = int(os.environ["KILL_AT"]), os.environ["KILL_IN"]
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link")


def count():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def hook(event, args):
    if event in CHANGES or event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR):
        if isinstance(args[0], str) and os.path.abspath(args[0]).startswith(folder):
            count()


def fsync(handle, real=os.fsync):
    count()
    real(handle)


os.fsync = fsync
sys.addaudithook(hook)
"""


def rows(run):
    """Return the metrics of a run without their seconds."""
    found = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [{name: row[name] for name in row.keys() - {"seconds"}} for row in found]


def file_names(run):
    """Return the names of all files of a run; those of checkpoints without numbers.

    The times are left out: a run writes them after its end.
    """
    names = as_users.contents(run).keys() - {"times.json"}
    return sorted(re.sub(r"checkpoint-\d+", "checkpoint", name) for name in names)


def last_state(run):
    """Return the tensors of the latest checkpoint, without times."""
    paths = run.glob("checkpoint-*.safetensors")
    latest = max(paths, key=lambda path: int(path.stem.split("-")[1]))
    tensors = safetensors.numpy.load_file(latest)
    return latest.name, {n: t for n, t in tensors.items() if "seconds" not in n}


def assert_same_run(run, whole):
    """Compare all that two runs left, but times and their older checkpoints."""
    assert rows(run) == rows(whole)
    assert file_names(run) == file_names(whole)
    differ = re.compile(r"checkpoint-.*|metrics.jsonl|config.json|times.json")
    both = as_users.contents(run), as_users.contents(whole)
    for name in both[0].keys() & both[1].keys():
        if not differ.fullmatch(name):
            assert both[0][name] == both[1][name], name
    (name, tensors), (other, others) = last_state(run), last_state(whole)
    assert name == other
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor, others[name], name, strict=True)


def whole_run(flags, folder, **changes):
    done = as_users.run(f"{flags} --run-dir whole", cwd=folder, **changes)
    assert (done.code, done.err) == (0, "")
    return folder / "whole"


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    return whole_run(f"{LONG} {OFTEN}", tmp_path_factory.mktemp("long"), **ONE_THREAD)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    return whole_run(f"{SHORT} {ALWAYS}", tmp_path_factory.mktemp("short"))


def sweep_line(path):
    """Return the words that continue a sweep, or begin one if its file has no line."""
    begun = path is not None and b"\n" in path.read_bytes()
    return f"sweep --json --resume {path}" if begun else TABLES


def the_sweep(folder):
    """Return the file of the sweep in a folder, None if there is none."""
    return next(iter(folder.glob("runs/*.jsonl")), None)


def whole_sweep(flags, folder):
    done = as_users.run(f"{TABLES} {flags}", cwd=folder)
    assert (done.code, done.err) == (0, "")
    return the_sweep(folder)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return whole_sweep(MANY, tmp_path_factory.mktemp("many"))


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return whole_sweep(FEW, tmp_path_factory.mktemp("few"))


def killed_at(process, moment, file):
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
    return process.returncode


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_is_killed_again_and_again_ends_the_same(seed, long, tmp_path):
    """Ten times each: 40 random moments."""
    draw, killed, run = random.Random(seed), 0, tmp_path / "run"
    while killed < 10:
        begun = any(run.glob("checkpoint-*"))
        line = "train --quiet --resume run" if begun else f"{LONG} --run-dir run"
        process = as_users.start(f"{line} {OFTEN}", cwd=tmp_path, **ONE_THREAD)
        metrics = run / "metrics.jsonl"
        code = killed_at(process, draw.uniform(0, 0.25), lambda file=metrics: file)
        assert code in (-signal.SIGKILL, 0)
        killed += code != 0
        if code == 0:  # it ended before the moment
            assert_same_run(run, long)
            shutil.rmtree(run)
    if not any(run.glob("checkpoint-*")):
        line = f"{LONG} --run-dir run"
    else:
        line = "train --quiet --resume run"
    done = as_users.run(f"{line} {OFTEN}", cwd=tmp_path, **ONE_THREAD)
    assert done.code == 0, done.err
    assert_same_run(run, long)


@pytest.mark.parametrize("seed", range(4))
def test_a_sweep_that_is_killed_again_and_again_ends_the_same(seed, many, tmp_path):
    """Ten times each: 20 random moments."""
    draw, killed = random.Random(seed), 0
    while killed < 10:
        line = sweep_line(the_sweep(tmp_path))
        line = line if "resume" in line else f"{line} {MANY}"
        process = as_users.start(line, cwd=tmp_path)
        code = killed_at(process, draw.uniform(0, 0.1), lambda: the_sweep(tmp_path))
        assert code in (-signal.SIGKILL, 0)
        killed += code != 0
        if code == 0 and (path := the_sweep(tmp_path)):
            assert as_users.timeless_lines(path) == as_users.timeless_lines(many)
            path.unlink()
    line = sweep_line(the_sweep(tmp_path))
    done = as_users.run(line if "resume" in line else f"{line} {MANY}", cwd=tmp_path)
    assert done.code == 0, done.err
    path = the_sweep(tmp_path)
    assert path is not None
    assert as_users.timeless_lines(path) == as_users.timeless_lines(many)


@pytest.fixture(scope="module")
def killing(tmp_path_factory):
    """Return a function: the variables that kill a process before a write."""
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(KILLS)
    path = os.pathsep.join([str(site), str(as_users.ROOT)])
    return lambda number, folder: {
        "PYTHONPATH": path,
        "KILL_AT": number,
        "KILL_IN": str(folder),
    }


def add_half_a_line(file):
    """Leave what a process leaves that is killed while it writes a second line."""
    if file is not None and file.exists() and file.stat().st_size:
        with file.open("ab") as lines:
            lines.write(b'{"event": "ev')


@pytest.mark.parametrize("part", range(4))
def test_a_run_that_is_killed_before_a_write_ends_the_same(
    part, short, killing, tmp_path, monkeypatch
):
    """Each part tries every fourth write."""
    monkeypatch.chdir(tmp_path)
    for number in itertools.count(1 + part, 4):
        run = Path(f"run{number}")
        environment = killing(number, run.absolute())
        done = as_users.run(
            f"{SHORT} {ALWAYS} --run-dir {run}", cwd=tmp_path, **environment
        )
        if done.code == 0:  # it has fewer writes
            assert number > 20
            break
        assert done.code == -signal.SIGKILL, done
        if (run / "agent.safetensors").exists():
            jax_ttt.load(run)
        else:
            add_half_a_line(run / "metrics.jsonl")
        begun = any(run.glob("checkpoint-*"))
        line = "train --quiet --resume" if begun else f"{SHORT} --run-dir"
        done = as_users.run_here(f"{line} {run} {ALWAYS}")
        assert done.code == 0, done
        assert_same_run(run, short)


def test_a_sweep_that_is_killed_before_a_write_ends_the_same(
    few, killing, tmp_path, monkeypatch
):
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        environment = killing(number, folder)
        done = as_users.run(f"{TABLES} {FEW}", cwd=folder, **environment)
        if done.code == 0:  # it has fewer writes
            assert number > 5
            break
        assert done.code == -signal.SIGKILL, done
        add_half_a_line(the_sweep(folder))
        line = sweep_line(the_sweep(folder))
        if "resume" not in line:
            shutil.rmtree(folder / "runs", ignore_errors=True)
        line = line if "resume" in line else f"{line} {FEW}"
        done = as_users.run_here(line)
        assert done.code == 0, done
        path = the_sweep(folder)
        assert path is not None
        assert as_users.timeless_lines(path) == as_users.timeless_lines(few)
