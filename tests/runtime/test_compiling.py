"""Compiling with each effort."""

from importlib.metadata import version
from typing import get_args

import jax
import jax.numpy as jnp
import pytest

from jax_ttt.runtime.compiling import Effort, compiled


@pytest.mark.parametrize("effort", get_args(Effort))
def test_a_program_returns_the_same_with_any_effort(effort):
    program = jax.jit(lambda x: (x * x).sum()).lower(jnp.arange(4.0))
    assert compiled(program, effort)(jnp.arange(4.0)) == 14


def test_less_effort_makes_xla_optimize_less_on_a_cpu(monkeypatch):
    program = jax.jit(lambda x: x + 1).lower(1.0)
    asked, real = [], type(program).compile

    def compile_with(self, compiler_options):
        asked.append(compiler_options)
        return real(self, compiler_options=compiler_options)

    monkeypatch.setattr(type(program), "compile", compile_with)
    for effort in get_args(Effort):
        compiled(program, effort)
    least, little, full = asked
    assert least["xla_backend_optimization_level"] == "0"
    assert little["xla_backend_optimization_level"] == "1"
    assert not full
    scheduled = [
        asked for asked in (least, little) if "xla_cpu_scheduler_type" in asked
    ]
    release = tuple(map(int, version("jaxlib").split(".")[:2]))
    assert scheduled == [little] * (release >= (0, 10))
