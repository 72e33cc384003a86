"""What the tests of faults share: processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import jax_ttt

ROOT = Path(jax_ttt.__file__).parents[1]


@pytest.fixture
def python():
    """Return the path of Python, and the variables with which it imports us."""
    return sys.executable, os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a command, in a folder of its own.

    `before` is what a shell does first; `env` changes variables, None removes one.
    """
    started = []

    def begin(command, before="", env=None):
        given = os.environ | {"PYTHONPATH": str(ROOT)} | (env or {})
        process = subprocess.Popen(
            ["sh", "-c", f'{before} exec "$0" -m jax_ttt.{command}', sys.executable],
            cwd=tmp_path,
            env={name: text for name, text in given.items() if text is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start):
    """Return a function that runs a command: its exit code, stdout and stderr."""

    def finish(command, before="", env=None):
        process = start(command, before, env)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    return finish
