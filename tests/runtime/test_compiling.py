"""Programs that are compiled fully or quickly: when, and that both compute the same."""

import os
import subprocess
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny

from jax_ttt.runtime import compiling
from jax_ttt.runtime.compiling import Program


def doubled(x, times=1):
    return x * 2.0**times


@pytest.fixture
def program(optimized):
    """Return a program, compiled as for users."""
    return Program(doubled, static_argnames=["times"])


def test_both_ways_of_compiling_give_the_same_numbers(program):
    x = jnp.arange(12.0)
    quick, full = program.jitted(), program.jitted(quickly=False)
    assert quick is not full
    for found in (quick(x, times=3), full(x, times=3), program(x, times=3)):
        assert found.tolist() == (np.arange(12.0) * 8).tolist()


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("quickly", [True, False])
def test_what_is_donated_is_taken_in_both_ways(quickly):
    program, x = Program(doubled, donate_argnames=["x"]), jnp.arange(3.0)
    assert program.jitted(quickly=quickly)(x).tolist() == [0, 2, 4]
    assert x.is_deleted()


def test_jaxs_setting_to_optimize_little_has_precedence(program):
    jax.config.update("jax_disable_most_optimizations", True)  # undone by `optimized`
    assert program.jitted() is program.jitted(quickly=False)


def test_devices_other_than_cpus_compile_fully(program, monkeypatch):
    gpu = SimpleNamespace(platform="gpu")
    monkeypatch.setattr(compiling.devices, "current_device", lambda: gpu)
    assert program.jitted() is program.jitted(quickly=False)


TRAIN = """
import sys
from jax_ttt.runtime import compiling
number, *flags = sys.argv[1:]
for options in compiling._SECOND[: int(number)]:
    options["xla_option_of_another_release"] = True
from jax_ttt.__main__ import run_command
from jax_ttt.train import COMMAND
sys.exit(run_command(COMMAND, flags))
"""


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_options_that_xla_does_not_know_cost_at_most_one_warning(number, tmp_path):
    """There is none while XLA knows one that can stand beside the level."""
    words = [str(number), *tiny.flags(), "--quiet", "--run-dir", "run"]
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    if number == 1:
        assert done.stderr == ""
    else:
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("warning: compiling ")
        assert "xla_option_of_another_release" in done.stderr
    assert (tmp_path / "run" / "agent.safetensors").exists()
