"""A run that is killed at random moments, again and again, and continues each time."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tiny
from same_runs import assert_same_run

import jax_ttt

ROOT = Path(jax_ttt.__file__).parents[1]
NUM_KILLS = 25
PROGRAM = """
import importlib, os, random, signal, sys, threading
from jax_ttt.training import loop

from jax_ttt.__main__ import run_command
train = importlib.import_module("jax_ttt.train")

how, seed, *flags = sys.argv[1:]
draw = random.Random(int(seed))


def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def killing(real, left):
    def call(*args, **kwargs):
        nonlocal left
        if threading.current_thread() is threading.main_thread() and begun:
            left -= 1
            if left == 0:
                if half:
                    real(*args, **kwargs)
                kill()
        return real(*args, **kwargs)

    return call


begun, half = [], draw.random() < 0.5
if how in ("fsync", "replace", "unlink"):
    setattr(os, how, killing(getattr(os, how), draw.randint(1, 9)))
real = loop._run_chunk


def run_chunk(*args):
    if not begun:
        begun.append(1)
        if how == "time":
            threading.Timer(draw.uniform(0.0, 0.4), kill).start()
    return real(*args)


loop._run_chunk = run_chunk
sys.exit(run_command(train.COMMAND, flags))
"""
FLAGS = [*tiny.flags("num_envs", "hidden_size"), "--eval-games", "0"]
FLAGS += ["--num-updates", "6000", "--eval-every", "75", "--snapshots"]


ENVIRONMENT = {"PYTHONPATH": str(ROOT), "NPROC": "1"}
OFTEN = ("--quiet", "--checkpoint-every", "0.02")


def run(how, seed, *flags):
    """Run `train` in a process that may kill itself; return the exit code."""
    words = [sys.executable, "-c", PROGRAM, how, str(seed), *map(str, flags), *OFTEN]
    done = subprocess.run(
        words, env=os.environ | ENVIRONMENT, capture_output=True, text=True, timeout=300
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    return done.returncode


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_that_is_killed_again_and_again_ends_bit_for_bit_the_same(tmp_path):
    whole, path = tmp_path / "whole", tmp_path / "run"
    command = [sys.executable, "-m", "jax_ttt.train", *FLAGS, *OFTEN]
    environment = os.environ | ENVIRONMENT
    subprocess.run([*command, "--run-dir", whole], env=environment, check=True)
    draw, killed = random.Random(7), 0
    hows = ("time", "time", "fsync", "replace", "unlink")
    for seed in itertools.count():
        if killed == NUM_KILLS:
            break
        begun = any(path.glob("checkpoint-*"))
        flags = ["--resume", path] if begun else [*FLAGS, "--run-dir", path]
        code = run(draw.choice(hows), seed, *flags)
        assert code in (-signal.SIGKILL, 0)
        killed += code != 0
        if code == 0:  # it ended before the moment: begin again
            assert_same_run(path, whole)
            shutil.rmtree(path)
    assert run("never", 0, "--resume", path) == 0
    assert_same_run(path, whole)
    assert not [*path.rglob(".*")]
