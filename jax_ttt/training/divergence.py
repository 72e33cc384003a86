"""The error message of a run that diverged: when, and what was not finite."""

import numpy as np

from jax_ttt.runtime import pytrees
from jax_ttt.runtime.words import counted
from jax_ttt.training.run_state import Progress


def reason(step: Progress, before: int) -> str:
    """Return when and how an agent's run diverged, and what to do.

    `step` is that of the chunk after which a value was not finite; `before` are the
    updates before it.
    """
    causes = [*_first_value(step, before), *_weights(step)]
    text = "; ".join(causes) or f"a value is not finite by update {step.update:,}"
    return f"training diverged: {text}; try a lower learning rate"


def _first_value(step: Progress, before: int) -> list[str]:
    """Return the first loss or gradient of the chunk that is not finite, if any."""
    metrics = step.metrics
    if metrics is None:
        return []
    counts = {"loss": metrics.finite_losses, "gradient": metrics.finite_grads}
    place = {
        name: before + 1 + int(count)
        for name, count in counts.items()
        if count is not None and before + int(count) < step.update
    }
    if place:
        name = min(place, key=lambda name: place[name])
        return [f"the {name} is not finite at update {place[name]:,}"]
    means = {"loss": metrics.loss, "gradient": metrics.grad_norm}
    return [
        f"the {name} is not finite by update {step.update:,}"
        for name, mean in means.items()
        if not np.isfinite(mean)
    ][:1]


def _weights(step: Progress) -> list[str]:
    """Return the weights that are not finite after the chunk, if any."""
    params = pytrees.leaves_by_name(step.state.train_state.params)
    wrong = [
        name for name, leaf in params.items() if not np.isfinite(np.asarray(leaf)).all()
    ]
    if not wrong:
        return []
    others = f" and {counted(len(wrong) - 1, 'other array')}" if wrong[1:] else ""
    return [f"not finite weights after update {step.update:,}: {wrong[0]}{others}"]
