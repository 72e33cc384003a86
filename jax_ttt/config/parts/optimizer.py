"""Settings of the loss and of the step that it causes."""

import dataclasses
from typing import Annotated

from jax_ttt.config.choices import Loss, OptimizerKind, Precision
from jax_ttt.config.errors import ConflictError
from jax_ttt.config.ranges import Fraction, Part, Range


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerSettings(Part):
    """The loss, and the gradient step on it."""

    optimizer: OptimizerKind = "adamw"
    """adamw, or sgd: plain gradient steps, without momentum and weight decay."""
    loss: Loss = "huber"
    """Loss of a TD error: mse, half its square; huber, the same up to an error of 1
    and linear beyond."""
    learning_rate: Annotated[float, Range(float, 0, 1e38, above_low=True)] = 4e-3
    """Step size at the first update. With a table: the share of the error
    that a visit removes, often called alpha."""
    learning_rate_end: Annotated[float, Range(float, 0, 1e38)] = 0.0
    """Step size at the last update, linear in between. At most learning_rate."""
    learning_rate_decay: Fraction = 1.0
    """Factor by which the step size falls after each eval_every updates, beside the
    line from learning_rate to learning_rate_end. 1: no decay."""
    weight_decay: Fraction = 0.0
    """Decoupled weight decay of adamw."""
    average_span: Fraction = 0.0
    """Grade, save and play with an average of the network's weights over about this
    share of the updates so far. 0: no average."""
    precision: Precision = "auto"
    """dtype of an mlp's matrix products while training (accumulated in float32). auto:
    bfloat16 on a CPU with AMX or AVX-512 BF16, else float32. Grades and play always use
    float32."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.learning_rate_end > self.learning_rate:
            rule = f"at most {self.learning_rate} (learning_rate)"
            raise ConflictError("learning_rate_end", rule, self.learning_rate_end)

    def without_effect(self) -> dict[str, str]:
        """Return the fields that others leave without effect, each with its cause."""
        if self.optimizer == "sgd":
            return {"weight_decay": "optimizer sgd"}
        return {}
