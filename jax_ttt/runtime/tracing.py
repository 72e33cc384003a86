"""Programs of users' functions, which JAX traces once."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jaxtyping import PyTree

_OUTSIDE = ("callback", "ffi_call", "call_exported", "custom_vmap", "rng_uniform")
"""Parts of the names of JAX's primitives that run what the program does not show, or
draw by chance without a key."""
_RANDOM = ("random_", "threefry", "rng_bit_generator")
"""Parts of the names of JAX's primitives that draw random numbers by a key."""


class Traced(NamedTuple):
    """A function as a program, which `jax.extend.core.jaxpr_as_fun` calls."""

    program: ClosedJaxpr
    result: Any  # the shapes of what the function returns
    calls_outside: bool  # so that its results may change from call to call


def trace_once(function: Callable[..., Any], *arguments: object) -> Traced:
    """Return a function as a program.

    The values that the function uses are copied, since others may write them.
    """
    traced, result = jax.make_jaxpr(function, return_shape=True)(*arguments)
    calls_outside = bool(traced.effects) or _has_primitive(traced.jaxpr, _OUTSIDE)
    return Traced(_with_copies(traced), result, calls_outside)


def draws_numbers(program: ClosedJaxpr) -> bool:
    """Return whether a program draws random numbers by a key."""
    return _has_primitive(program.jaxpr, _RANDOM)


def _with_copies(part: PyTree) -> PyTree:
    """Return a part of a program with copies of all arrays in it."""
    if isinstance(part, Literal):
        has_array = hasattr(part.val, "dtype")
        return Literal(np.array(part.val), part.aval) if has_array else part
    if isinstance(part, Jaxpr):
        equations = [
            equation.replace(
                invars=[_with_copies(variable) for variable in equation.invars],
                params=jax.tree.map(_with_copies, equation.params),
            )
            for equation in part.eqns
        ]
        results = [_with_copies(variable) for variable in part.outvars]
        changes: dict[str, Any] = {"eqns": equations, "outvars": results}
        if isinstance(
            part, ClosedJaxpr
        ):  # from JAX 0.12 on, each program has its values
            changes["consts"] = [jnp.array(value) for value in part.consts]
        return part.replace(**changes)
    if isinstance(part, ClosedJaxpr):
        values = [jnp.array(value) for value in part.consts]
        return ClosedJaxpr(_with_copies(part.jaxpr), values)
    return part


def _has_primitive(jaxpr: Jaxpr, words: tuple[str, ...]) -> bool:
    """Return whether a part of a program has a primitive with one of these words."""
    for equation in jaxpr.eqns:
        parts = jax.tree.leaves(equation.params)
        inner = [getattr(part, "jaxpr", part) for part in parts]
        if any(word in equation.primitive.name for word in words) or any(
            isinstance(part, Jaxpr) and _has_primitive(part, words) for part in inner
        ):
            return True
    return False
