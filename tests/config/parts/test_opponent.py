"""The part `opponent`: what has no effect, and what goes together."""

from jax_ttt.config.parts.opponent import OpponentSettings


def test_what_has_no_effect():
    assert not list(OpponentSettings().unused())
    assert OpponentSettings().is_self
    assert not OpponentSettings(opponent="random").is_self


def test_a_single_seat_needs_an_opponent():
    assert not list(OpponentSettings(opponent="random", seat="first").conflicts())
    (conflict,) = OpponentSettings(seat="first").conflicts()
    assert (conflict.field, conflict.others) == ("seat", ("opponent",))
