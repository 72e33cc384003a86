"""Runs that need more memory than there is."""

from types import SimpleNamespace

import as_users
import pytest
import tiny

from jax_ttt import cli, runs
from jax_ttt.__main__ import run_command
from jax_ttt.runtime import devices
from jax_ttt.training import loop

pytestmark = pytest.mark.fault


@pytest.mark.slow
def test_a_run_that_needs_more_memory_than_allowed_is_refused(shell):
    flags = "--num-envs 1048576 --hidden-size 2048 --quiet --run-dir run"
    done = shell(f"ulimit -v 4000000; jax_ttt train {flags}")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done
    assert done.err.startswith("error: out of memory: this needs about ")
    assert done.err.endswith(f" GB are free: {loop.LESS_MEMORY}\n")


def test_a_run_needs_as_much_memory_as_its_programs(tmp_path, monkeypatch):
    line = f"train {' '.join(tiny.flags())} --quiet --run-dir"
    monkeypatch.setattr(devices, "free_bytes", lambda: 10_000)
    done = as_users.run_here(line, tmp_path / "run")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("error: out of memory: this needs about 0.0 GB, ")
    monkeypatch.setattr(devices, "free_bytes", lambda: None)  # unknown
    done = as_users.run_here(line, tmp_path / "run")
    assert done.code == 0, "the folder is free again"


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


def test_the_free_memory_of_an_accelerator_is_its_limit_minus_its_use(monkeypatch):
    stats = {"bytes_limit": 9_000, "bytes_in_use": 2_000}
    device = SimpleNamespace(platform="gpu", memory_stats=lambda: stats)
    monkeypatch.setattr(devices, "current_device", lambda: device)
    assert devices.free_bytes() == 7_000
    monkeypatch.setattr(device, "memory_stats", lambda: None)
    assert devices.free_bytes() is None
