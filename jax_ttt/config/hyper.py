"""The numbers that a compiled program takes as data. Imports no JAX."""

from typing import Any, NamedTuple


class Hyper(NamedTuple):
    """Hyperparameters that are data: agents that differ in them share one program.

    A pytree; each is a number or a float32 array, `()` or, of `S` agents, `(S,)`. The
    settings of the same names say what they mean.
    """

    # Any: numbers, arrays, tracers, and in JAX's own trees shapes and axes.
    learning_rate: Any
    learning_rate_end: Any
    weight_decay: Any
    average_span: Any
    epsilon_start: Any
    epsilon_end: Any
    epsilon_decay: Any
    tau: Any
    gamma: Any
    tremble: Any
