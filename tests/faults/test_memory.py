"""Runs that need more memory than there is."""

import pytest

from jax_ttt import cli, runs
from jax_ttt.__main__ import run_command

pytestmark = pytest.mark.fault


@pytest.mark.slow
def test_a_run_that_needs_more_memory_than_allowed_is_refused(shell):
    flags = "--num-envs 1048576 --hidden-size 2048 --quiet --run-dir run"
    done = shell(f"ulimit -v 4000000; jax_ttt train {flags}")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done
    assert done.err.startswith("error: out of memory: lower --num-envs, ")


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9")],
)
def test_a_lack_of_memory_is_one_line(error, capsys):
    def main(args):
        raise error

    command = cli.Command("jax_ttt.runs", runs.Args, main)
    assert run_command(command, []) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: out of memory: lower --num-envs, ")
