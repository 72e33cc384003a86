"""Commands as users run them: in a process, or in this one as `python -m` runs them."""

import contextlib
import io
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import jax_ttt

ROOT = Path(jax_ttt.__file__).parents[1]
_FRAMES = re.compile(r"\x1b\[[\d;]*m|[\u2500-\u257f]")
"""Colours, and the lines of which the frames around a refusal are drawn."""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def environment(**changes):
    """Return the variables of a process that imports this package; None removes one."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | changes
    return {name: str(value) for name, value in variables.items() if value is not None}


def argv(line, *words):
    """Return the words that start a command, such as `train --seed`, and more of it.

    The command `.` is that of the package itself.
    """
    command, *first = line.split()
    module = "jax_ttt" if command == "." else f"jax_ttt.{command}"
    return [sys.executable, "-m", module, *first, *map(str, words)]


def start(line, *words, cwd, **changes):
    """Start a command in a process group of its own; `changes` are variables."""
    return subprocess.Popen(
        argv(line, *words),
        cwd=cwd,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(line, *words, cwd, **changes):
    """Run a command in a process."""
    with start(line, *words, cwd=cwd, **changes) as process:
        try:
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
    return Done(process.returncode, out, err)


def run_python(*words, cwd=None, seconds=300, **changes):
    """Run Python with these words in a process; `changes` are variables."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def run_here(line, *words, seconds=120):
    """Run a command in this process, as `python -m` runs it; it is much quicker.

    Raises:
        TimeoutError: it took longer.
    """
    _, _, module, *rest = argv(line, *words)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "argv", [module, *rest]))
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", ".*found in sys.modules", RuntimeWarning)
        stack.enter_context(limited(seconds))
        empty_input = stack.enter_context(open(os.devnull))
        stack.enter_context(mock.patch.object(sys, "stdin", empty_input))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int) or code is None
    return Done(code or 0, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def limited(seconds):
    """Raise `TimeoutError` in the context after so many seconds: nothing may hang."""

    def stop(*_):
        raise TimeoutError(f"still running after {seconds} s")

    handler = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)


def names(err, word):
    """Return whether a message names a word, wherever its lines are broken."""
    message = "".join(_FRAMES.sub("", err).split())
    return "".join(word.split()) in message


def assert_refused(done, *words):
    """Check that a command refused its flags or a file, and named each of the words."""
    assert done.code == 2, done
    assert done.out == "", done
    assert done.err.strip(), "no message"
    assert "Traceback" not in done.err, done.err
    missing = [word for word in words if not names(done.err, word)]
    assert not missing, done.err


def contents(folder):
    """Return the bytes of all files below a folder; None for what is not a file."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def timeless_lines(path):
    """Return the objects of a file's lines as sorted texts, without times.

    Digests of lines with times are left out too.
    """
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return sorted(json.dumps(_timeless(line), sort_keys=True) for line in lines)


def _timeless(value):
    if isinstance(value, dict):
        names = value.keys() - {"seconds", "sha256"}
        return {name: _timeless(value[name]) for name in names}
    return value
