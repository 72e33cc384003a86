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


@pytest.fixture
def asked(monkeypatch):
    """Return a function that compiles with each effort and returns XLA's options."""

    def options():
        program = jax.jit(lambda x: x + 1).lower(1.0)
        found, real = [], type(program).compile

        def compile_with(self, compiler_options):
            found.append(compiler_options)
            return real(self, compiler_options=compiler_options)

        monkeypatch.setattr(type(program), "compile", compile_with)
        for effort in get_args(Effort):
            compiled(program, effort)
        return found

    return options


def test_less_effort_makes_xla_optimize_less_on_a_cpu(asked, optimized):
    least, little, full = asked()
    assert least["xla_backend_optimization_level"] == "0"
    assert little["xla_backend_optimization_level"] == "1"
    assert not full
    scheduled = [x for x in (least, little) if "xla_cpu_scheduler_type" in x]
    release = tuple(map(int, version("jaxlib").split(".")[:2]))
    assert scheduled == [little] * (release >= (0, 10))


def test_jaxs_setting_of_few_optimizations_means_the_least_effort(asked):
    assert jax.config.read("jax_disable_most_optimizations")  # as all tests
    least, *others = asked()
    assert least["xla_backend_optimization_level"] == "0"
    assert others == [least, least]
