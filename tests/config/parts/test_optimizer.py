"""The part `optimizer`: what has no effect, and what goes together."""

from jax_ttt.config.parts.optimizer import Optimizer


def test_what_has_no_effect():
    assert not dict(Optimizer().unused())
    unused = dict(Optimizer(optimizer="sgd").unused())
    assert unused == {"weight_decay": "optimizer sgd"}


def test_the_learning_rate_does_not_rise():
    rates = Optimizer(learning_rate=0.1, learning_rate_end=0.2)
    ((field, rule),) = rates.conflicts()
    assert (field, rule) == ("learning_rate_end", "at most 0.1 (learning_rate)")
