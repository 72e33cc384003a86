"""A run that is killed at random moments, again and again, and continues each time."""

import contextlib
import itertools
import json
import os
import random
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
import importlib, json, os, random, signal, sys, threading
import jax.monitoring
from jax_ttt.checkpoints import recorder, run_folders
from jax_ttt.reports import console
from jax_ttt.training import loop
from jax_ttt.training.programs import Programs

train = commands.module_of("train")

# Each run is a fork of this process, which has imported the libraries above and started
# no thread.
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()

os.dup2(2, 1)
how, seed, *flags = json.loads(line)
draw = random.Random(seed)


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
real = Programs.updates


def updates(*args):
    if not begun:
        begun.append(1)
        if how == "time":
            threading.Timer(draw.uniform(0.0, 0.4), kill).start()
    return real(*args)


Programs.updates = updates
sys.exit(train.main(flags))
"""
FLAGS = [*tiny.flags("num_envs", "hidden_size"), "--eval-games", "0"]
FLAGS += ["--num-updates", "6000", "--eval-every", "75"]


ENVIRONMENT = {"PYTHONPATH": str(ROOT), "NPROC": "1"}
OFTEN = ("--quiet", "--checkpoint-every", "0.02")


@contextlib.contextmanager
def runs(folder):
    """Yield a function that runs `train` in a process that may kill itself.

    It returns the exit code.
    """
    errors = folder / "stderr"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        codes = process.stdout

        def run(how, seed, *flags):
            words = [how, seed, *map(str, flags), *OFTEN]
            print(json.dumps(words), file=process.stdin, flush=True)
            code = codes.readline()
            told = errors.read_text()
            assert "Traceback" not in told, told
            assert "warning" not in told.lower(), told
            return int(code)

        yield run
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.fault
def test_a_run_that_is_killed_again_and_again_ends_bit_for_bit_the_same(tmp_path):
    whole, path = tmp_path / "whole", tmp_path / "run"
    command = [sys.executable, "-m", "jax_ttt.train", *FLAGS, *OFTEN]
    environment = os.environ | ENVIRONMENT
    subprocess.run([*command, "--run-dir", whole], env=environment, check=True)
    draw, killed = random.Random(7), 0
    hows = ("time", "time", "fsync", "replace", "unlink")
    with runs(tmp_path) as run:
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
                for file in path.iterdir():
                    file.unlink()
        assert run("never", 0, "--resume", path) == 0
    assert_same_run(path, whole)
    assert not [*path.glob(".*")]
