"""The part `optimizer`: what has no effect, and what goes together."""

from jax_ttt.config.parts.optimizer import OptimizerSettings


def test_what_has_no_effect():
    assert not dict(OptimizerSettings().unused())
    unused = dict(OptimizerSettings(optimizer="sgd").unused())
    assert unused == {"weight_decay": "optimizer sgd"}


def test_the_learning_rate_does_not_rise():
    rates = OptimizerSettings(learning_rate=0.1, learning_rate_end=0.2)
    ((field, rule),) = rates.conflicts()
    assert (field, rule) == ("learning_rate_end", "at most 0.1 (learning_rate)")
