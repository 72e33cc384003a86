"""The part `optimizer`: what has no effect, and what goes together."""

from jax_ttt.config.parts.optimizer import OptimizerSettings


def test_what_has_no_effect():
    assert not list(OptimizerSettings().unused())
    (unused,) = OptimizerSettings(optimizer="sgd").unused()
    assert (unused.field, unused.others) == ("weight_decay", ("optimizer",))


def test_the_learning_rate_does_not_rise():
    rates = OptimizerSettings(learning_rate=0.1, learning_rate_end=0.2)
    (conflict,) = rates.conflicts()
    assert conflict.field == "learning_rate_end"
    assert conflict.others == ("learning_rate",)
    assert "at most 0.1" in conflict.rule
