"""Runs that need more memory than there is."""

import as_users
import pytest
import tiny

from jax_ttt.files.run_folder import RunFolder
from jax_ttt.training import agent_batch

pytestmark = pytest.mark.fault


@pytest.mark.slow
def test_a_run_that_needs_more_memory_than_allowed_is_refused(shell):
    flags = "--num-envs 1048576 --hidden-size 2048 --quiet --run-dir run"
    done = shell(f"ulimit -v 4000000; jax_ttt train {flags}")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done
    assert done.err.startswith("error: out of memory: lower --num-envs, ")


class FullDevice:
    """The program of a chunk, on a device whose memory is full."""

    def __init__(self, program):
        self.jitted = program.jitted

    def __call__(self, *args, **options):
        raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes")


def test_a_device_without_memory_refuses_before_a_row_is_written(tmp_path, monkeypatch):
    line = f"train {' '.join(tiny.flags())} --quiet --run-dir"
    with monkeypatch.context() as patch:
        full = FullDevice(agent_batch.chunk_program)
        patch.setattr(agent_batch, "chunk_program", full)
        done = as_users.run_here(line, tmp_path / "run")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("error: out of memory: lower --num-envs, ")
    assert RunFolder(tmp_path / "run").files() == ["config.json"]
    done = as_users.run_here(line, tmp_path / "run")
    assert done.code == 0, "the folder is free again"
