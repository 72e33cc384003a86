"""Settings of the loss and of the step that it causes."""

import dataclasses
from collections.abc import Iterator
from typing import Annotated

from jax_ttt.config.choices import Loss, OptimizerKind
from jax_ttt.config.ranges import (
    Conflict,
    Fraction,
    Part,
    Range,
    without_effect,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerSettings(Part):
    """The loss, and the gradient step on it."""

    optimizer: OptimizerKind = "adamw"
    """adamw, or sgd: plain gradient steps, without momentum and weight decay."""
    loss: Loss = "huber"
    """Loss of a TD error: mse, half its square; huber, the same up to an error of 1
    and linear beyond."""
    learning_rate: Annotated[float, Range(float, 0, 1e38, above_low=True)] = 4e-3
    """Step size at the first update; above 0, at most 1e+38. With a table: the share
    of the error that a visit removes, often called alpha."""
    learning_rate_end: Annotated[float, Range(float, 0, 1e38)] = 0.0
    """Step size at the last update, linear in between. 0 to learning_rate."""
    learning_rate_decay: Fraction = 1.0
    """Factor by which the step size falls after each eval_every updates, beside the
    line from learning_rate to learning_rate_end. 0 to 1 (no decay)."""
    weight_decay: Fraction = 0.0
    """Decoupled weight decay of adamw. 0 to 1."""
    average_span: Fraction = 0.0
    """Grade, save and play with an average of the network's weights over about this
    share of the updates so far. 0 (no average) to 1."""

    def conflicts(self) -> Iterator[Conflict]:
        """Yield each field that others of the part rule out."""
        if self.learning_rate_end > self.learning_rate:
            rule = f"at most {self.learning_rate} (learning_rate)"
            yield Conflict("learning_rate_end", rule, ("learning_rate",))

    def unused(self) -> Iterator[Conflict]:
        """Yield each field that others of the part leave without effect."""
        if self.optimizer == "sgd":
            yield without_effect("weight_decay", "optimizer sgd", "optimizer")
