"""Hyperparameters that a compiled program takes as data. Imports no JAX."""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import jax

Scalar: TypeAlias = "float | jax.Array"
"""A number, or a float32 array, `()`, or `(S,)` for `S` agents."""


class Hyper(NamedTuple):
    """Hyperparameters that are data: agents that differ in them share one program.

    It is a pytree. The settings of the same names describe the fields.
    """

    learning_rate: Scalar
    learning_rate_end: Scalar
    weight_decay: Scalar
    average_span: Scalar
    epsilon_start: Scalar
    epsilon_end: Scalar
    epsilon_decay: Scalar
    tau: Scalar
    gamma: Scalar
    tremble: Scalar
