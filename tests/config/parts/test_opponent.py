"""The part `opponent`: what has no effect, and what goes together."""

from jax_ttt.config.parts.opponent import OpponentSettings


def test_what_has_no_effect():
    assert not dict(OpponentSettings().unused())
    assert OpponentSettings().is_self
    assert not OpponentSettings(opponent="random").is_self


def test_a_single_seat_needs_an_opponent():
    assert not list(OpponentSettings(opponent="random", seat="first").conflicts())
    ((field, rule),) = OpponentSettings(seat="first").conflicts()
    assert (field, rule) == ("seat", "both in self-play, where it plays both sides")
