"""Compiling with each effort."""

from typing import get_args

import jax
import jax.numpy as jnp
import pytest

from jax_ttt.runtime.compiling import Effort, compiled


@pytest.mark.parametrize("effort", get_args(Effort))
def test_a_program_returns_the_same_with_any_effort(effort):
    program = jax.jit(lambda x: (x * x).sum()).lower(jnp.arange(4.0))
    assert compiled(program, effort)(jnp.arange(4.0)) == 14
