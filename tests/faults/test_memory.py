"""Runs that need more memory than there is."""

from types import SimpleNamespace

import commands
import pytest
import tiny

from jax_ttt import cli, runs
from jax_ttt.__main__ import run_command
from jax_ttt.runtime import devices
from jax_ttt.training import loop

train = commands.module_of("train")


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(
    "flags",
    [
        "--num-envs 1048576 --hidden-size 2048",
        "--preset plain --replay-capacity 16777216 --env-id connect_four",
    ],
)
def test_a_run_that_needs_more_memory_than_allowed_is_refused(flags, run, tmp_path):
    line = f"train {flags} --quiet --run-dir run"
    code, out, err = run(line, "ulimit -v 4000000;")
    assert (code, out, err.count("\n")) == (1, "", 1), err
    assert err.startswith("error: out of memory: this needs about ")
    assert err.endswith(f" GB are free: {loop.LESS_MEMORY}\n")


@pytest.mark.fault
def test_the_need_is_compared_with_what_is_free(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(devices, "free_bytes", lambda: 10_000)
    argv = [*tiny.flags(), "--quiet", "--run-dir", str(tmp_path / "run")]
    assert commands.run(train, argv) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: out of memory: this needs about 0.0 GB, ")
    monkeypatch.setattr(devices, "free_bytes", lambda: None)  # unknown
    assert commands.run(train, argv) == 0, "the folder is free again"


@pytest.mark.fault
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


def test_the_memory_of_an_accelerator_is_what_it_says(monkeypatch):
    stats = {"bytes_limit": 9_000, "bytes_in_use": 2_000}
    device = SimpleNamespace(platform="gpu", memory_stats=lambda: stats)
    monkeypatch.setattr(devices, "current_device", lambda: device)
    assert devices.free_bytes() == 7_000
    monkeypatch.setattr(device, "memory_stats", lambda: None)
    assert devices.free_bytes() is None
