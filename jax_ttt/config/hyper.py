"""Hyperparameters that a compiled program takes as data. Imports no JAX."""

from typing import Any, NamedTuple


class Hyper(NamedTuple):
    """Hyperparameters that are data: agents that differ in them share one program.

    It is a pytree; each field is a number or a float32 array, `()`, or `(S,)` for `S`
    agents. The settings of the same names describe them.
    """

    # Any: numbers, arrays and tracers; JAX also puts shapes and axes there.
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
