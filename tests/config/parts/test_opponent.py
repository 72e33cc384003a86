"""The part `opponent`: what has no effect, and what goes together."""

from jax_ttt.config.parts.opponent import Opponent


def test_what_has_no_effect():
    assert not dict(Opponent().unused())
    assert Opponent().is_self
    assert not Opponent(opponent="random").is_self


def test_a_single_seat_needs_an_opponent():
    assert not list(Opponent(opponent="random", seat="first").conflicts())
    ((field, rule),) = Opponent(seat="first").conflicts()
    assert (field, rule) == ("seat", "both in self-play, where it plays both sides")
